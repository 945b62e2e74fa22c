"""The base of SVC and NuSVC: classes, votes, probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import InputError
from maxmargin.estimators.kernel.fit.crammer_singer import AllAtOnce
from maxmargin.estimators.kernel.fit.folds import stratified_folds
from maxmargin.estimators.kernel.fit.probabilities import (
    are_fitted,
    calibrated,
    probabilities,
)
from maxmargin.estimators.kernel.fit.schemes import OneVsOne, OneVsRest, ovr_scores, votes
from maxmargin.estimators.kernel.machine import KernelMachine
from maxmargin.validation import encode_labels, sample_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from maxmargin._arrays import Index, Vector
    from maxmargin.estimators.kernel.fit.parts import Part
    from maxmargin.estimators.kernel.fit.schemes import Scheme
    from maxmargin.estimators.kernel.fit.solving import Task
    from maxmargin.estimators.machine import Solution


def _has_probabilities(estimator: Any) -> bool:
    if not estimator.probability:
        msg = "predict_proba is not available when probability=False"
        raise AttributeError(msg)
    return True


class KernelClassifier(ClassifierMixin, KernelMachine):
    """A machine that predicts classes by binary problems of one kind."""

    # Added to the error where weights leave rows of one class only.
    _lonely_class: ClassVar[str] = ""
    _optional = ("calibrators_", "probA_", "probB_")

    classes_: NDArray[Any]

    def _part(self, name: str, rows: Index, y: Vector, weight: Vector) -> Part:
        """Return the binary problem between the rows of y = +1 and of y = −1."""
        raise NotImplementedError

    # --- fitting --------------------------------------------------------------------

    def _task(self, X: Any, y: Any, sample_weight: Any) -> Task:
        rows, given = self._rows(X, y)
        weight = sample_weights(sample_weight, rows.shape[0], rows.shape)
        labels = encode_labels(
            given, weight, self.class_weight, lonely=self._lonely_class
        )
        count = labels.class_weight[labels.codes]
        if weight is not None:
            np.multiply(count, weight, out=count, where=weight > 0.0)
        scheme = self._scheme(labels.classes, labels.codes)
        parts = [self._part(name, at, y, count[at]) for name, at, y in scheme.problems()]
        folds = None
        if self.probability:
            random = check_random_state(self.random_state)
            folds = stratified_folds(labels.codes, random)
        known = {"classes_": labels.classes, "class_weight_": labels.class_weight}
        return self._kernel_task(
            rows, weight, parts, scheme=scheme, folds=folds, known=known
        )

    def _scheme(self, classes: NDArray[Any], codes: Index) -> Scheme:
        """Return the scheme that makes binary problems of several classes."""
        if self.multi_class == "crammer_singer":
            return AllAtOnce(classes, codes)
        if self.multi_class == "ovr" and len(classes) > 2:
            return OneVsRest(classes, codes)
        return OneVsOne(classes, codes)

    def _attributes(self, task: Task, solution: Solution) -> dict[str, Any]:
        found = super()._attributes(task, solution)
        margins = np.array([one.margin for one in solution.solved])
        found["margin_"] = float(margins[0]) if margins.size == 1 else margins
        if task.folds is not None:
            k = len(task.known["classes_"])
            found.update(calibrated(solution, self.calibration, k))
        return found

    # --- predicting -----------------------------------------------------------------

    def decision_function(self, X: Any) -> Vector:
        """Return the decision values: the sign is the side, ±1 is the margin.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; for a precomputed kernel, their kernel values with every row of the
            training set.

        Returns
        -------
        decision : ndarray of shape (n_samples,), (n_samples, n_classes) or \
                (n_samples, n_pairs)
            With two classes, positive for ``classes_[1]``. With more, a score for each
            class ('ovr'), or for each pair, positive for its first class ('ovo').
        """
        pairs = self.decision_function_shape == "ovo"
        parts: list[Vector] = []
        for _, values, model, _ in self._values(X, whole=pairs):
            if pairs and model.k > 2 and not model.pairwise:
                msg = (
                    "decision_function_shape='ovo' needs the decisions of pairs, which "
                    "only multi_class='ovo' has; use 'ovo' for both, or 'ovr' here"
                )
                raise InputError(msg)
            scored = model.pairwise and not pairs
            parts.append(ovr_scores(values, model.k) if scored else values)
        decision: Vector = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return decision.ravel() if decision.shape[1] == 1 else decision

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; for a precomputed kernel, their kernel values with every row of the
            training set.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The most probable class where there are probabilities; otherwise the winner
            of the votes of all pairs, or of one against the rest.
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            msg = "break_ties must be False when decision_function_shape is 'ovo'"
            raise InputError(msg)
        probable = self.probability and are_fitted(self)
        winners: list[Index] = []
        for _, values, model, _ in self._values(X, whole=False):
            if probable:
                winners.append(probabilities(self, values, model).argmax(axis=1))
            elif model.k == 2:
                winners.append((values[:, 0] >= 0.0).astype(np.intp))
            elif not model.pairwise:
                winners.append(values.argmax(axis=1))
            elif self.break_ties:
                winners.append(ovr_scores(values, model.k).argmax(axis=1))
            else:
                winners.append(votes(values, model.k))
        return np.asarray(self.classes_).take(np.concatenate(winners))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Vector:
        """Return the probability of every class; ``predict`` returns the most probable.

        Needs a fit with ``probability=True``, which learns from out-of-fold scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, as for ``predict``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; every row sums to 1.
        """
        parts = [
            probabilities(self, values, model)
            for _, values, model, _ in self._values(X, whole=False)
        ]
        return np.concatenate(parts)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Vector:
        """Return the logarithms of ``predict_proba``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, as for ``predict``.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):  # isotonic steps may say exactly 0
            logarithms: Vector = np.log(self.predict_proba(X))
        return logarithms
