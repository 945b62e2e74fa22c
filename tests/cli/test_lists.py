"""Lists of the command line that --help needs without importing what they come from."""

from maxmargin.cli import options
from maxmargin.data_files import formats
from maxmargin.estimators.parameters import KERNELS
from maxmargin.workflow import machines


def choices(command, name):
    return set(next(one for one in command.params if one.name == name).type.choices)


def test_formats_machines_tasks_and_kernels_are_those_of_the_library():
    from maxmargin.cli.commands.check import command as check
    from maxmargin.cli.commands.train import command as train

    assert options.FORMATS == formats.FORMATS
    assert set(options.MACHINES) == {"auto", *machines._CLASSES}
    assert choices(train, "task") == choices(check, "task") == set(machines.TASKS)
    assert set(options.KERNELS) == set(KERNELS) - {"precomputed"}
