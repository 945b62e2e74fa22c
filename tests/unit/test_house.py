"""Rules of the house, each with today's number as a limit that only falls.

docs/decisions/0032 says why. A limit that a change undercuts is lowered with it.
"""

import ast
import re

import pytest
from tests.unit.test_architecture import (
    FILES,
    IMPORTS,
    TREES,
    house_modules,
    module_name,
)

from maxmargin.estimators import MACHINES
from maxmargin.kernels import KERNELS
from maxmargin.losses import LOSSES
from maxmargin.solvers import SOLVERS
from maxmargin.solvers.linear import LINEAR_SOLVERS

PACKAGES = sorted({path.parent for path in FILES})
NAMES = [module_name(package / "__init__.py") for package in PACKAGES]

MOST_MODULES = 12
LONGEST = 60  # lines of a function
MOST_ARGUMENTS = 12
# One loop over bytes or pairs each, with its reasons in the docstring.
LONG = {
    "maxmargin.data_files.libsvm_text.parse.parse_lines",
}
CROWDED = set()
HEADINGS = ("Problem", "Update", "Stop", "Cost", "References?")  # of a solver's module
ANY = 2023  # how often the type Any stands in src


def functions():
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{module_name(path)}.{node.name}", node


def body_lines(node):
    """Lines of a function without its docstring."""
    lines = node.end_lineno - node.lineno + 1
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        lines -= first.end_lineno - first.lineno + 1
    return lines


def arguments(node):
    given = node.args
    return len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)


@pytest.mark.parametrize("package", PACKAGES, ids=NAMES)
def test_rooms_are_small(package):
    modules = [path for path in package.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MOST_MODULES, sorted(path.stem for path in modules)


@pytest.mark.parametrize("package", PACKAGES, ids=NAMES)
def test_the_docstring_of_a_package_is_its_map(package):
    """Each module and each sub-package once."""
    words = ast.get_docstring(TREES[package / "__init__.py"]) or ""
    here = module_name(package / "__init__.py")
    inside = [path.stem for path in package.glob("*.py")]
    inside += [path.name for path in package.iterdir() if (path / "__init__.py").exists()]
    for name in sorted({*inside} - {"__init__"}):
        count = words.count(f":mod:`~{here}.{name}`")
        assert count == 1, f"{here} names {name} {count} times"


@pytest.mark.parametrize(
    "registry", [SOLVERS, LINEAR_SOLVERS], ids=lambda one: one.package
)
def test_a_solver_says_what_it_solves_and_how(registry):
    """Each heading begins a line of the docstring of the solver's module."""
    words = {module_name(path): ast.get_docstring(tree) for path, tree in TREES.items()}
    missing = [
        f"{home}: {heading}"
        for home in registry.homes().values()
        for heading in HEADINGS
        if not re.search(rf"^{heading}\b", words[f"{registry.package}.{home}"], re.M)
    ]
    assert missing == []


def test_private_modules_stay_in_their_package():
    strangers = []
    for module, imports in IMPORTS.items():
        for one in imports:
            for target in house_modules(one):
                package, _, name = target.rpartition(".")
                if not name.startswith("_") or package == "maxmargin":
                    continue
                if not (module == package or module.startswith(package + ".")):
                    strangers.append(f"{module} imports {target}")
    assert strangers == []


def test_functions_are_short():
    long = {name for name, node in functions() if body_lines(node) > LONGEST}
    assert long <= LONG, long - LONG


def test_functions_take_few_arguments():
    crowded = {
        name: arguments(node)
        for name, node in functions()
        if arguments(node) > MOST_ARGUMENTS and node.name != "__init__"
    }
    assert set(crowded) <= set(CROWDED), {
        k: v for k, v in crowded.items() if k not in CROWDED
    }
    assert len(CROWDED) <= 6


def test_only_errors_counts_frames():
    counting = [
        module_name(path)
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "stacklevel"
    ]
    assert set(counting) <= {"maxmargin.errors"}, counting


def test_own_types_are_asked_without_a_default():
    """A missing attribute of ours is a mistake; of what users made it is not."""
    ours = re.compile(
        r"^(self(?!\.foreign)|solver|gram|problem|part|state|estimator|machine|keeper)\b"
    )
    found = [
        f"{module_name(path)}, line {node.lineno}: {ast.unparse(node)}"
        for path, tree in TREES.items()
        if {"solvers", "kernels", "estimators"} & {*path.parts}
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "getattr"
        and len(node.args) == 3
        and ours.match(ast.unparse(node.args[0]))
    ]
    assert found == []


def test_any_becomes_rarer():
    count = sum(len(re.findall(r"\bAny\b", path.read_text("utf-8"))) for path in FILES)
    assert count <= ANY


NAMES_OF = {
    "kernel": {*KERNELS.names()},
    "solver": {*SOLVERS.names(), *LINEAR_SOLVERS.names()},
    "loss": {*LOSSES},
    "machine": {*MACHINES.names(), *(entry.title for entry in MACHINES)},
}
# Where a name is compared or looked up, besides the registries: LIBSVM's words and
# scikit-learn's, pictures, calibrators of the same name; and the default of "auto".
DECIDING = {
    "kernel": {
        "cli.commands.inspect", "estimators.kernel.fit.probabilities",
        "persist.libsvm_files.machines", "persist.libsvm_files.reader",
        "persist.libsvm_files.writer", "tutorial._checks", "workflow.machines",
    },
    "solver": {
        "estimators.kernel.fit.solver_choice", "persist.own_files.registry",
        "theory.conversion",
    },
    "loss": {
        "estimators.kernel.svc", "estimators.linear.l1_min_c",
        "estimators.linear.machine", "persist.libsvm_files.machines",
        "plots.canvas.support", "plots.loss", "theory.bounds",
    },
    "machine": {"theory.conversion"},
}  # fmt: skip


def decided(tree):
    """Strings that a module compares with, or looks up in a table."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            asked = [key for key in node.keys if key is not None]
        else:
            continue
        for one in asked:
            yield from (c.value for c in ast.walk(one) if isinstance(c, ast.Constant))


@pytest.mark.parametrize("noun", NAMES_OF)
def test_a_name_is_decided_on_in_its_registry(noun):
    """The referee has names of its own, as it shares nothing with what it judges."""
    found = {
        module_name(path).removeprefix("maxmargin.")
        for path, tree in TREES.items()
        if NAMES_OF[noun] & {value for value in decided(tree) if isinstance(value, str)}
    }
    found = {name for name in found if not name.startswith("_referee")}
    assert found <= DECIDING[noun], found - DECIDING[noun]
