"""The arrows of the house: who may import whom, and what nobody may import."""

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"

# Lowest first; a module imports from its own layer or a lower one.
LAYERS = [
    {"_arrays", "_elementary", "_lazy", "errors"},
    {"_registry"},
    {"_atomic"},
    {"parallel"},
    {"_jit"},
    {"losses"},
    {"problem"},
    {"certificate"},
    {"rows"},
    {"design"},
    {"kernels"},
    {"theory"},
    {"solvers"},
    {"observers", "_interrupt", "_callback_bridge"},
    {"_referee"},
    {"probability"},
    {"validation"},
    {"data_files"},
    {"estimators"},
    {"persist"},
    {"libsvm"},
    {"plots"},
    {"tutorial"},
    {"workflow"},
    {""},  # maxmargin/__init__.py
    {"cli"},
    {"__main__"},
]
HEIGHT = {name: height for height, layer in enumerate(LAYERS) for name in layer}
MAX_LINES = 450
POSIX_ONLY = {"fcntl", "grp", "pwd", "resource", "termios"}
POSIX_CALLS = {"os.fork", "os.getuid", "os.sched_getaffinity", "signal.SIGALRM",
               "signal.alarm", "signal.setitimer"}  # fmt: skip


class Import(NamedTuple):
    """One imported module (absolute name), the names taken from it, and the line."""

    module: str
    names: tuple[str, ...]
    line: int


def module_name(path: Path) -> str:
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(node: ast.AST) -> bool:
    if not isinstance(node, ast.If):
        return False
    test = ast.unparse(node.test)
    return test in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def imports_of(tree: ast.AST) -> list[Import]:
    """Every import that runs, lazy ones too; what only type checkers see is left out."""
    found = []
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            found += [Import(alias.name, (), node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute here"
            names = tuple(alias.name for alias in node.names)
            found.append(Import(node.module or "", names, node.lineno))
        if is_type_checking(node):
            todo += node.orelse
        else:
            todo += ast.iter_child_nodes(node)
    return found


FILES = sorted(SRC.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
IMPORTS = {module_name(path): imports_of(tree) for path, tree in TREES.items()}


def house_modules(one: Import) -> list[str]:
    """The modules of the package that an import runs: ``from a import b`` may run a.b."""
    if one.module.split(".")[0] != "maxmargin":
        return []
    below = [f"{one.module}.{name}" for name in one.names]
    return [module for module in [one.module, *below] if module in IMPORTS]


def layer(module: str) -> str:
    return [*module.split("."), ""][1]


def complaints(test):
    """One line for every import about which ``test(module, import)`` says something."""
    return [
        f"{module}, line {one.line}: {said}"
        for module, imports in IMPORTS.items()
        for one in imports
        if (said := test(module, one))
    ]


def test_every_module_has_its_place():
    homeless = {layer(module) for module in IMPORTS} - HEIGHT.keys()
    assert not homeless, f"give {homeless} a place in LAYERS"


def points_downward(module, one):
    upward = [
        target
        for target in house_modules(one)
        if HEIGHT[layer(target)] > HEIGHT[layer(module)]
    ]
    return f"imports {upward}, which is above it" if upward else None


def test_arrows_point_downward():
    assert complaints(points_downward) == []


def test_arrows_make_no_circle():
    edges = {
        module: {target for one in imports for target in house_modules(one)} - {module}
        for module, imports in IMPORTS.items()
    }
    while leaves := [module for module, targets in edges.items() if not targets]:
        for leaf in leaves:
            del edges[leaf]
        for targets in edges.values():
            targets.difference_update(leaves)
    assert edges == {}, "these modules import each other in a circle"


def reachable(module: str) -> set[str]:
    """Modules that importing ``module`` may run, packages on the way included."""
    seen: set[str] = set()
    todo = [module]
    while todo:
        one = todo.pop()
        if one in seen or one == "maxmargin":
            continue
        seen.add(one)
        todo.append(one.rpartition(".")[0])
        todo += [t for entry in IMPORTS[one] for t in house_modules(entry)]
    return seen


def test_the_referee_shares_nothing_with_those_it_judges():
    if "maxmargin._referee" not in IMPORTS:
        pytest.fail("maxmargin/_referee is not there")
    met = {layer(module) for module in reachable("maxmargin._referee")}
    judged = {"_jit", "problem", "rows", "kernels", "solvers", "estimators"}
    assert met.isdisjoint(judged), met


def test_only_jit_knows_numba():
    def test(module, one):
        if one.module.split(".")[0] in {"numba", "llvmlite"} and layer(module) != "_jit":
            return f"imports {one.module}; only maxmargin._jit may"
        return None

    assert complaints(test) == []


def test_files_have_public_doors():
    """Packages around files import each other's public modules only."""

    def test(module, one):
        if layer(module) not in {"data_files", "persist", "libsvm", "workflow", "cli"}:
            return None
        private = [
            target
            for target in house_modules(one)
            if layer(target) != layer(module) and "._" in target.partition(".")[2]
        ]
        return f"imports {private}, private to its package" if private else None

    assert complaints(test) == []


def test_no_private_api_of_scikit_learn():
    def test(module, one):
        parts = one.module.split(".")
        if parts[0] == "sklearn" and any(p.startswith("_") for p in [*parts, *one.names]):
            return f"uses {one.module} {one.names}, which is private"
        return None

    assert complaints(test) == []


def test_nothing_posix_only():
    def test(module, one):
        return one.module in POSIX_ONLY and f"imports {one.module}, absent on Windows"

    assert complaints(test) == []
    used = {
        f"{module_name(path)}: {ast.unparse(node)}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in POSIX_CALLS
    }
    assert used == set()


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_files_stay_short(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_LINES, f"{path.name} has {lines} lines; split it by job"


def test_the_walker_sees_lazy_imports_and_skips_typing_ones():
    source = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import numba
else:
    import fcntl
def f():
    from maxmargin.solvers import base
"""
    found = {one.module for one in imports_of(ast.parse(source))}
    assert found == {"typing", "fcntl", "maxmargin.solvers"}


def test_an_upward_arrow_is_seen():
    upward = Import("maxmargin.solvers.base", ("drive",), 1)
    assert "above it" in points_downward("maxmargin.errors", upward)
    assert points_downward("maxmargin.estimators.kernel.svc", upward) is None
