"""Fit, certify, compare: what ``make demo`` shows.

Data ship with scikit-learn; nothing is downloaded.
"""

import time

import sklearn.svm
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
)
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import maxmargin

NEXT = """\
What to try next
  change one import     from sklearn.svm import SVC  ->  from maxmargin import SVC
  ask for more          SVC(tol=1e-6), then print(clf.certificate_) again
  put a limit           SVC(time_limit=10): keeps the model, says how far it got
  watch it              SVC(verbose=1), or press Ctrl-C: the model so far stays usable
  judge any machine     maxmargin.certify(fitted_svc, X, y), scikit-learn's own SVC too
  other machines        NuSVC, SVR, NuSVR, OneClassSVM, SVDD
  probabilities         SVC(probability=True, random_state=0).fit(X, y).predict_proba(X)
  combine kernels       from maxmargin.kernels import Linear, RBF
                        SVC(kernel=RBF(sigma=2.0) + 0.1 * Linear())
  hard margin           SVC(C=float("inf")), margin_ tells its width
  run the tests         make test"""


def fit_and_time(machine, X, y):
    """Seconds to fit; the machine is fitted afterwards."""
    began = time.perf_counter()
    machine.fit(X, y)
    return time.perf_counter() - began


def compare(title, load, kind="SVC", **parameters):
    """Fit the machine of both libraries on the same rows; return ours."""
    X, y = load(return_X_y=True)
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.3, random_state=0, stratify=None if kind == "SVR" else y
    )
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    machines = {
        "maxmargin": getattr(maxmargin, kind)(**parameters),
        "scikit-learn": getattr(sklearn.svm, kind)(**parameters),
    }
    print(
        f"{title}: {X.shape[0]} rows, {X.shape[1]} features, {kind}({_spell(parameters)})"
    )
    print(
        f"  {'the referee says':16}{'violation':>11}{'dual objective':>18}"
        f"{'gap':>9}{'score':>10}{'seconds':>9}"
    )
    for name, machine in machines.items():
        seconds = fit_and_time(machine, X, y)
        verdict = maxmargin.certify(machine, X, y)
        # The worst pair of classes need not be the same for both, so pairs are summed.
        pairs = verdict.problems or (verdict,)
        dual = sum(pair.dual for pair in pairs)
        gap = sum(pair.gap for pair in pairs)
        print(
            f"  {name:16}{verdict.violation:11.1e}{dual:18.8f}{gap:9.1e}"
            f"{machine.score(X_test, y_test):10.4f}{seconds:9.4f}"
        )
    return machines["maxmargin"]


def _spell(parameters):
    return ", ".join(f"{name}={value!r}" for name, value in parameters.items())


def main():
    first = fit_and_time(maxmargin.SVC(), *load_iris(return_X_y=True))
    print(
        f"First fit in this process: {first:.2f} s; it loads compiled code, and on a new"
    )
    print("machine compiles it once.\n")

    two = compare("Two classes, breast cancer", load_breast_cancer, C=10.0, gamma=0.02)
    print("\nOur own certificate, print(clf.certificate_):")
    print(_indented(two.certificate_))

    print()
    ten = compare("Ten classes, handwritten digits", load_digits, C=5.0, gamma=0.02)
    print("\nThe worst of its binary problems on top:")
    print(_indented(ten.certificate_))

    print()
    compare("Regression, diabetes", load_diabetes, "SVR", C=100.0, epsilon=10.0)

    print(f"\n{NEXT}")


def _indented(text):
    return "\n".join(f"  {line}" for line in str(text).splitlines())


if __name__ == "__main__":
    main()
