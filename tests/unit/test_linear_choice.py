"""Which solver a linear machine takes: by the shape of its problem alone, or by name."""

import time

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import InputError, LinearSVC, LinearSVR, certify
from maxmargin.design.hessian import WIDE
from maxmargin.design.operator import Design
from maxmargin.estimators.linear.choice import FEW_ROWS, TIGHT, chosen_solver, names
from maxmargin.estimators.linear.solving import Seed
from maxmargin.estimators.parameters import Settings
from maxmargin.parallel import Workers
from maxmargin.problem import LinearJointProblem, linear_svc, linear_svr
from maxmargin.solvers import linear

MANY = WIDE + 1  # columns: the first number of them that is not few
JOINT = ("crammer-singer", "joint-newton", "joint-relay")


def design_of(n, d, rows, scaling=0.0):
    """Rows without memory, and of which nothing can be computed: they have a shape."""
    X = sp.csr_array((n, d)) if rows == "sparse" else np.broadcast_to(np.nan, (n, d))
    return Design(X, scaling, Workers(1))


def taken(problem, tol=1e-4):
    return type(
        chosen_solver(Settings.of(LinearSVC(tol=tol)), problem, lambda: 0)
    ).__name__


# rows, columns, how they are kept, what is special → squared losses, hinge and tube
RULE = [
    # few columns
    (10, 3, "dense", {}, "Newton", "ProximalNewton"),
    (10, 3, "sparse", {}, "Newton", "ProximalNewton"),
    (10**5, 3, "dense", {}, "Newton", "ProximalNewton"),
    (10, WIDE, "dense", {}, "Newton", "ProximalNewton"),
    (10, WIDE, "sparse", {}, "Newton", "ProximalNewton"),
    (10, WIDE, "dense", {"free": True}, "Newton", "ProximalNewton"),
    (10, WIDE, "sparse", {"free": True}, "Newton", "ProximalNewton"),
    (10, WIDE, "sparse", {"tol": 1e-12}, "Newton", "ProximalNewton"),
    # many columns, and not more rows, dense
    (10, MANY, "dense", {}, "GramSmo", "GramSmo"),
    (10, MANY, "dense", {"free": True}, "GramSmo", "GramSmo"),
    (10, MANY, "dense", {"tol": 1e-12}, "GramSmo", "GramSmo"),
    (MANY, MANY, "dense", {}, "GramSmo", "GramSmo"),
    (FEW_ROWS, 2 * FEW_ROWS, "dense", {}, "GramSmo", "GramSmo"),
    # whose products are too many
    (FEW_ROWS + 1, 2 * FEW_ROWS, "dense", {}, "DualDescent", "DualDescent"),
    (FEW_ROWS + 1, 2 * FEW_ROWS, "dense", {"free": True}, "NewtonCg", "GramSmo"),
    (FEW_ROWS + 1, 2 * FEW_ROWS, "dense", {"tol": TIGHT / 2}, "NewtonCg", "DualDescent"),
    # more rows than columns, dense
    (MANY + 1, MANY, "dense", {}, "NewtonCg", "DualDescent"),
    (MANY + 1, MANY, "dense", {"free": True}, "NewtonCg", "GramSmo"),
    # many columns, sparse
    (10, MANY, "sparse", {}, "DualDescent", "DualDescent"),
    (10, MANY, "sparse", {"tol": TIGHT}, "DualDescent", "DualDescent"),
    (10, MANY, "sparse", {"tol": TIGHT / 2}, "NewtonCg", "DualDescent"),
    (10, MANY, "sparse", {"free": True}, "NewtonCg", "GramSmo"),
    (MANY, MANY, "sparse", {}, "DualDescent", "DualDescent"),
    (MANY + 1, MANY, "sparse", {}, "NewtonCg", "DualDescent"),
    (MANY + 1, MANY, "sparse", {"free": True}, "NewtonCg", "GramSmo"),
]


@pytest.mark.parametrize(("n", "d", "rows", "special", "squared", "flat"), RULE)
def test_the_shape_decides(n, d, rows, special, squared, flat):
    design, price = design_of(n, d, rows), np.ones(n)
    free, tol = special.get("free", False), special.get("tol", 1e-4)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    for make in (linear_svc, linear_svr):
        for is_squared, expected in ((True, squared), (False, flat)):
            problem = make(design, y, price, squared=is_squared, free=free)
            assert taken(problem, tol) == expected


@pytest.mark.parametrize("rows", ["dense", "sparse"])
@pytest.mark.parametrize(("n", "d"), [(10, 3), (10, MANY), (MANY + 1, MANY)])
@pytest.mark.parametrize("tol", [1e-2, 1e-10])
def test_the_penalty_l1_has_a_relay_for_every_shape(n, d, rows, tol):
    design = design_of(n, d, rows)
    problem = linear_svc(design, np.ones(n), np.ones(n), squared=True, lasso=True)
    assert taken(problem, tol) == "LassoRelay"


@pytest.mark.parametrize("rows", ["dense", "sparse"])
@pytest.mark.parametrize(("n", "d"), [(10, 3), (10, MANY), (MANY + 1, MANY)])
@pytest.mark.parametrize(("k", "expected"), [(2, "TwoClasses"), (3, "JointRelay")])
def test_all_classes_at_once(n, d, rows, k, expected):
    codes = np.arange(n, dtype=np.intp) % k
    problem = LinearJointProblem(design_of(n, d, rows), codes, np.ones(n), k)
    assert taken(problem) == expected


def test_the_constant_is_a_column_too():
    y, price = np.ones(10), np.ones(10)
    without, with_it = (
        linear_svc(design_of(10, WIDE, "sparse", scaling), y, price)
        for scaling in (0.0, 1.0)
    )
    assert (taken(without), taken(with_it)) == ("Newton", "DualDescent")


# --- what a machine is told reaches the rule ----------------------------------------


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (LinearSVC(), "DualDescent"),
        (LinearSVC(loss="hinge"), "DualDescent"),
        (LinearSVC(tol=1e-8), "NewtonCg"),
        (LinearSVC(intercept="free"), "NewtonCg"),
        (LinearSVC(intercept="free", fit_intercept=False), "DualDescent"),
        (LinearSVC(loss="hinge", intercept="free"), "GramSmo"),
        (LinearSVC(penalty="l1"), "LassoRelay"),
        (LinearSVC(multi_class="crammer_singer"), "TwoClasses"),
        (LinearSVR(), "DualDescent"),
        (LinearSVR(loss="squared_epsilon_insensitive"), "DualDescent"),
        (LinearSVR(loss="squared_epsilon_insensitive", tol=1e-8), "NewtonCg"),
        (LinearSVR(loss="squared_epsilon_insensitive", intercept="free"), "NewtonCg"),
        (LinearSVR(intercept="free"), "GramSmo"),
    ],
    ids=str,
)
def test_options_of_a_machine(machine, expected):
    X = sp.random_array((30, MANY), density=0.01, format="csr", rng=0)
    problem = machine.problem(X, np.arange(30) % 2)
    assert (
        type(chosen_solver(Settings.of(machine), problem, lambda: 0)).__name__ == expected
    )


def rows(k=2):
    """Classes that lie apart."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % k
    return rng.standard_normal((90, 3)) + 4.0 * np.eye(3)[y], y


@pytest.mark.parametrize("name", names()[1:])
def test_a_name_is_a_solver_with_the_parameters_of_the_machine(name):
    machine = LinearSVC(
        solver=name, tol=0.125, max_iter=7,
        multi_class="crammer_singer" if name in JOINT else "ovr",
    )  # fmt: skip
    problem = machine.problem(*rows(3 if name in JOINT else 2))
    solver = chosen_solver(Settings.of(machine), problem, seed=lambda: 11)
    assert type(solver).__name__ in linear.__all__
    assert (solver.tol, solver.max_iter) == (0.125, 7)
    assert getattr(solver, "seed", 11) == 11


def test_only_solvers_that_leave_something_to_chance_draw_a_number():
    X, y = rows(3)
    for name, drawn in (("newton", False), ("dual-descent", True)):
        random = np.random.RandomState(0)
        LinearSVC(solver=name, random_state=random).fit(X, y)
        same = random.randint(1000) == np.random.RandomState(0).randint(1000)
        assert same is not drawn


class Slow(np.random.RandomState):
    """One that other threads overtake."""

    def randint(self, *args, **options):
        time.sleep(0.02)
        return super().randint(*args, **options)


def test_one_number_for_all_classes_and_every_thread():
    seed = Seed(Slow(0))
    with Workers(4) as workers:
        assert len(set(workers.map(lambda _: seed(), range(40)))) == 1
    assert seed() == Seed(0)()


def test_a_solver_that_was_made_is_taken_as_it_is():
    made = linear.Newton(tol=0.5)
    machine = LinearSVC(solver=made, tol=1e-6)
    assert (
        chosen_solver(Settings.of(machine), machine.problem(*rows()), lambda: 0) is made
    )


# --- Pegasos, which no shape has -------------------------------------------------------


def test_pegasos_by_name_proves_its_gap():
    X, y = rows()
    machine = LinearSVC(loss="hinge", solver="pegasos", C=0.1, tol=1e-2, random_state=0)
    machine.fit(X, y)
    assert machine.certificate_.solver == "LinearPegasos"
    assert machine.certificate_.ok
    assert certify(machine, X, y).relative_gap <= 1e-2
    assert machine.score(X, y) > 0.95


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "hinge loss"),
        ({"loss": "hinge", "intercept": "free"}, "no intercept that costs nothing"),
    ],
)
def test_pegasos_says_what_it_cannot_do(options, words):
    with pytest.raises(InputError, match=words):
        LinearSVC(solver="pegasos", **options).fit(*rows())
