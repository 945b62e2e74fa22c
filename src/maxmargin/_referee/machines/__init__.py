"""The optimum of every machine, written down once more, and the table of machines.

- :mod:`~maxmargin._referee.machines.classifiers`: C-SVC and ν-SVC.
- :mod:`~maxmargin._referee.machines.regressors`: ε-SVR and ν-SVR.
- :mod:`~maxmargin._referee.machines.one_class`: one-class SVM and SVDD.
- :mod:`~maxmargin._referee.machines.crammer_singer`: all classes at once.
- :mod:`~maxmargin._referee.machines.linear`: machines without a kernel.
- :mod:`~maxmargin._referee.machines.linear_crammer_singer`: both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin._referee.certification import Machine, Task
from maxmargin._referee.machines import classifiers, linear, one_class, regressors
from maxmargin._referee.tables import require
from maxmargin.errors import InputError

if TYPE_CHECKING:
    from maxmargin._referee.certification import Certification
    from maxmargin._referee.given import Given


def _without_proof(given: Given) -> Certification:
    """Refuse a machine that keeps no dual variables."""
    *most, last = _judged()
    msg = (
        f"{type(given.estimator).__name__} keeps no dual variables, without which the "
        "hinge proves nothing: its own figures are in certificate_; certify takes "
        f"{', '.join(most)} and {last}, and "
        "LinearSVC(loss='hinge', C=1/(lam*n)) has the same optimum"
    )
    raise InputError(msg)


MACHINES = {
    one.name: one
    for one in (
        Machine("SVC", classifiers.c_svc, Task.CLASSIFY, ("C",), sum="Σβ"),
        Machine(
            "NuSVC", classifiers.nu_svc, Task.CLASSIFY, ("nu",), level="rho", sum="Σβ",
            divided=True, ignoring=("sklearn",),
        ),
        Machine(
            "SVR", regressors.svr, Task.REGRESS, ("C", "epsilon"), level="tube", sum="Σβ"
        ),
        Machine("NuSVR", regressors.nu_svr, Task.REGRESS, ("C", "nu"), level="tube"),
        Machine("OneClassSVM", one_class.plane, Task.OUTLIERS, ("nu",), level="rho"),
        Machine(
            "SVDD", one_class.ball, Task.OUTLIERS, ("nu", "radius_"), level="radius"
        ),
        Machine("LinearSVC", linear.judge, Task.CLASSIFY),
        Machine("LinearSVR", linear.judge, Task.REGRESS, level="tube"),
        Machine("PegasosClassifier", _without_proof, Task.CLASSIFY),
        Machine("AveragedSGDClassifier", _without_proof, Task.CLASSIFY),
    )
}  # fmt: skip


def machine_of(estimator: Any) -> tuple[Machine, str]:
    """The machine that an estimator is, and the package that its class comes from.

    By its ``certified_as``; else by the name of its class or of one it inherits from;
    else by what it has.
    """
    bases = type(estimator).__mro__
    said = getattr(estimator, "certified_as", None)
    names = [base.__name__ for base in bases] if said is None else [said]
    require(
        said is None or said in _judged(),
        f"certified_as={said!r}: certify judges as one of {', '.join(_judged())}",
    )
    known = next((name for name in names if name in MACHINES), _by_attributes(estimator))
    home = next((base.__module__ for base in bases if base.__name__ == known), "")
    return MACHINES[known], home.partition(".")[0]


def _by_attributes(estimator: Any) -> str:
    def has(name: str) -> bool:
        return getattr(estimator, name, None) is not None

    if has("classes_"):
        # scikit-learn gives every machine every parameter, 0 where it has none.
        return "NuSVC" if has("nu") and not getattr(estimator, "C", None) else "SVC"
    if has("radius_"):
        return "SVDD"
    if has("nu"):
        return "OneClassSVM" if has("offset_") else "NuSVR"
    return "SVR" if has("epsilon") else "SVC"


def _judged() -> list[str]:
    return [one.name for one in MACHINES.values() if one.judge is not _without_proof]
