"""Fitted machines ↔ LIBSVM's layout.

Here labels are sorted and the decision of two classes is positive for the second; there
labels have any order, and it is positive for the first. Numbers are moved and negated,
never computed, so that both ways together give the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import InputError
from maxmargin.estimators import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.estimators.kernel.prediction import checked_model
from maxmargin.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid
from maxmargin.persist.libsvm_files.layout import LARGEST_INT, LibsvmModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_MACHINES: dict[str, Any] = {
    "c_svc": SVC,
    "nu_svc": NuSVC,
    "one_class": OneClassSVM,
    "epsilon_svr": SVR,
    "nu_svr": NuSVR,
}
_KERNELS = {
    "linear": "linear",
    "polynomial": "poly",
    "rbf": "rbf",
    "sigmoid": "sigmoid",
    "precomputed": "precomputed",
}
_THEIRS = {ours: theirs for theirs, ours in _KERNELS.items()}


def _refuse(what: str, instead: str = "") -> NoReturn:
    msg = (
        f"{what} has no place in LIBSVM's model text: save it with "
        f"maxmargin.save(estimator, 'name.maxmargin'){instead}"
    )
    raise InputError(msg)


def from_estimator(
    estimator: Any, *, labels: Sequence[int] | NDArray[Any] | None = None
) -> LibsvmModel:
    """A fitted machine as LIBSVM would write it.

    Parameters
    ----------
    estimator : SVC, NuSVC, SVR, NuSVR or OneClassSVM
        Fitted, with a kernel that LIBSVM has.
    labels : sequence of int, optional
        The classes in the order that the file is to have; sorted by default, which
        keeps ties of votes as they are. LIBSVM's own order is that of first appearance.

    Returns
    -------
    LibsvmModel
        With the same decisions.

    Raises
    ------
    InputError
        If the format cannot express the machine; the message names a way out.
    """
    kind = _kind(estimator)
    check_is_fitted(estimator)
    fitted = checked_model(estimator)
    kernel, degree, gamma, coef0 = _kernel(estimator)
    classifies = kind in ("c_svc", "nu_svc")
    turn = classifies and fitted.k == 2
    if classifies and fitted.k > 2 and not fitted.pairwise:
        _refuse(
            f"multi_class={estimator.multi_class!r} with {fitted.k} classes",
            ", or fit it with multi_class='ovo'",
        )
    serial, SV = None, sparse.csr_matrix((fitted.dual_coef.shape[1], 0))
    if kernel == "precomputed":
        serial = np.asarray(fitted.vectors, np.int64) + 1
    else:
        SV = sparse.csr_matrix(fitted.vectors, dtype=np.float64)
        if SV.shape[1] > LARGEST_INT:
            _refuse(f"{SV.shape[1]} features")
    model = LibsvmModel(
        svm_type=kind,
        kernel_type=kernel,
        rho=fitted.intercept.copy() if turn else -fitted.intercept,
        sv_coef=-fitted.dual_coef if turn else fitted.dual_coef.copy(),
        SV=SV,
        serial=serial,
        degree=degree,
        gamma=gamma,
        coef0=coef0,
        label=_labels(estimator.classes_) if classifies else None,
        nr_sv=np.diff(fitted.bounds).astype(np.int64) if classifies else None,
        sv_indices=np.asarray(estimator.support_, np.int64) + 1,
        **_probabilities(estimator),
    )
    return model if labels is None else model.reordered(np.asarray(labels))


def _kind(estimator: Any) -> str:
    kinds = [kind for kind, one in _MACHINES.items() if isinstance(estimator, one)]
    if not kinds:
        known = ", ".join(machine.__name__ for machine in _MACHINES.values())
        _refuse(
            f"{type(estimator).__name__}, which is none of {known},",
            ", or fit one of those (a linear machine: SVC(kernel='linear'))",
        )
    if getattr(estimator, "loss", "hinge") != "hinge":
        _refuse(f"loss={estimator.loss!r}", ", or fit it with loss='hinge'")
    if getattr(estimator, "multi_class", "ovo") == "crammer_singer":
        _refuse("multi_class='crammer_singer'", ", or fit it with multi_class='ovo'")
    return kinds[0]


def _kernel(estimator: Any) -> tuple[str, int, float, float]:
    """LIBSVM's name of the kernel, with d, γ and r."""
    kernel = estimator.kernel
    name, degree, gamma, coef0 = "", 3, 0.0, 0.0
    if isinstance(kernel, str):
        name = _THEIRS[kernel]
        if name not in ("linear", "precomputed"):
            gamma = float(estimator.gamma_)
            degree, coef0 = int(estimator.degree), float(estimator.coef0)
    elif type(kernel) is Linear:
        name = "linear"
    elif type(kernel) is Polynomial:
        name, degree = "polynomial", int(kernel.degree)
        gamma, coef0 = float(kernel.gamma), float(kernel.coef0)
    elif type(kernel) is RBF:
        name, gamma = "rbf", float(kernel.gamma)
    elif type(kernel) is Sigmoid:
        name, gamma, coef0 = "sigmoid", float(kernel.a), float(kernel.r)
    elif type(kernel) is Precomputed:
        name = "precomputed"
    if not name or gamma < 0.0 or degree > LARGEST_INT:
        _refuse(f"kernel={kernel!r}", ", or use one of LIBSVM's five kernels")
    return name, degree, gamma, coef0


def _labels(classes: NDArray[Any]) -> NDArray[np.int64]:
    given = np.asarray(classes)
    if given.dtype.kind in "biuf":
        whole = given.astype(np.float64)
        if (whole == np.rint(whole)).all() and (np.abs(whole) <= LARGEST_INT).all():
            return whole.astype(np.int64)
    _refuse(
        f"the label {given.tolist()[0]!r}, among classes that are not all whole numbers "
        "of 32 bits,",
        ", or fit it with such numbers as labels",
    )


def _probabilities(estimator: Any) -> dict[str, Any]:
    if hasattr(estimator, "calibrators_"):
        _refuse("calibration='isotonic'", ", or fit it with calibration='sigmoid'")
    return {
        name: np.array(getattr(estimator, f"{name}_"), np.float64)
        for name in ("probA", "probB", "prob_density_marks")
        if hasattr(estimator, f"{name}_")
    }


def to_estimator(model: LibsvmModel, *, n_features: int | None = None) -> Any:
    """A machine of this library with the decisions of a LIBSVM model.

    Parameters
    ----------
    model : LibsvmModel
        Read from a file, or made.
    n_features : int, optional
        How many features rows have, where the support vectors do not use the last ones
        (precomputed kernels: how many rows the training set had).

    Returns
    -------
    SVC, NuSVC, SVR, NuSVR or OneClassSVM
        Fitted: it predicts. ``classes_`` are sorted, so a tie of votes between three
        classes goes to the lowest label, in LIBSVM to the first of the file. Things that
        the file does not have are absent (``certificate_``, ``n_iter_``) or the default
        (``C``, ``nu``); ``support_`` counts the vectors where their rows are not known.
        ``probA_`` is the scale of a regression's errors, ``prob_density_marks_`` are the
        marks of a one-class machine; both serve only to be written again.
    """
    if model.label is not None:
        model = model.reordered(np.sort(model.label))
    estimator = in_file_order(model, max(n_features or 0, model.n_features))
    if model.classifies and model.has_probabilities:
        estimator.set_params(probability=True)
    return estimator


def in_file_order(model: LibsvmModel, n_features: int) -> Any:
    """A machine with a model's decisions and with labels in the order of the file.

    It is not for users: they expect ``classes_`` to be sorted.
    """
    machine = _MACHINES[model.svm_type](
        kernel=_KERNELS[model.kernel_type],
        degree=model.degree,
        gamma=model.gamma,
        coef0=model.coef0,
    )
    for name, value in _fitted_attributes(model, n_features).items():
        setattr(machine, name, value)
    return machine


def _fitted_attributes(model: LibsvmModel, n_features: int) -> dict[str, Any]:
    """The attributes of a machine with a model's decisions, labels in their order."""
    turn = model.classifies and model.nr_class == 2
    n = model.total_sv
    if model.serial is not None:
        support = model.serial - 1
        vectors: Any = np.empty((0, 0))
    else:
        known = model.sv_indices
        support = np.arange(n) if known is None else known - 1
        vectors = model.widened(n_features).SV
    counts = np.array([n]) if model.nr_sv is None else model.nr_sv
    attributes = {
        "support_": np.asarray(support).astype(np.int32),
        "support_vectors_": vectors,
        "n_support_": np.asarray(counts).astype(np.int32),
        "dual_coef_": -model.sv_coef if turn else model.sv_coef.copy(),
        "intercept_": model.rho.copy() if turn else -model.rho,
        "gamma_": 1.0 if model.kernel_type == "linear" else float(model.gamma),
        "n_features_in_": n_features,
        "classes_": model.label,
        "class_weight_": None if model.label is None else np.ones(model.nr_class),
        "probA_": model.probA,
        "probB_": model.probB,
        "prob_density_marks_": model.prob_density_marks,
    }
    if model.svm_type == "one_class":
        attributes["offset_"] = model.rho.copy()
    return {name: value for name, value in attributes.items() if value is not None}
