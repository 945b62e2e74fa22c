"""Which penalty, loss and formulation go together, in scikit-learn's words."""

from __future__ import annotations

from typing import Any

from maxmargin.errors import InputError

# loss → penalty → the formulations that LIBLINEAR has
_KNOWN: dict[str, dict[str, tuple[bool, ...]]] = {
    "hinge": {"l2": (True,)},
    "squared_hinge": {"l1": (False,), "l2": (False, True)},
    "epsilon_insensitive": {"l2": (True,)},
    "squared_epsilon_insensitive": {"l2": (False, True)},
}


def check_combination(penalty: str, loss: str, dual: Any) -> None:
    """Refuse what scikit-learn's ``LinearSVC`` and ``LinearSVR`` refuse.

    ``dual`` decides nothing here, for every solver knows both sides of the duality; but a
    combination that LIBLINEAR does not have is more likely a mistake than a wish.
    """
    given = f"Parameters: penalty={penalty!r}, loss={loss!r}, dual={dual!r}"
    known = _KNOWN.get(loss, {"l2": (False, True)})  # one from outside, as it may be
    if penalty not in known:
        msg = (
            "Unsupported set of arguments: The combination of "
            f"penalty='{penalty}' and loss='{loss}' is not supported, {given}; the "
            "penalty l1 goes with loss='squared_hinge'"
        )
        raise InputError(msg)
    if dual != "auto" and bool(dual) not in known[penalty]:
        msg = (
            "Unsupported set of arguments: The combination of "
            f"penalty='{penalty}' and loss='{loss}' are not supported when "
            f"dual={dual}, {given}; use dual='auto'"
        )
        raise InputError(msg)
