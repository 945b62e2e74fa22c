"""The group of all commands, each loaded when it is called; exit codes."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import click

from maxmargin.cli.failures import DONE, USAGE, Failure, shielded, unknown_to_click

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "train": "Learn a model from a file of data.",
    "predict": "Predict with a model.",
    "cv": "Cross-validate: how good would a model be?",
    "scale": "Bring features to a common scale.",
    "check": "Find the problems of a file of data.",
    "inspect": "Show a model and its certificate.",
    "convert": "Convert data or models to another format.",
}
"""The commands, with a line of help for each; modules have the same names."""

LIBSVM = {
    "svm-train": "LIBSVM's svm-train: its flags, its files, its output.",
    "svm-predict": "LIBSVM's svm-predict.",
    "svm-scale": "LIBSVM's svm-scale.",
}
"""LIBSVM's programs, which read their arguments themselves."""


class RawCommand(click.Command):
    """A command that parses its arguments itself: LIBSVM's flags are not click's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep everything, ``-h`` and ``--`` too."""
        ctx.args = list(args)
        return []


class Program(click.Group):
    """Commands; the module of each is imported when it is called, not for ``--help``."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names in the order in which they are shown."""
        return [*COMMANDS, *LIBSVM]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load a command."""
        if cmd_name in LIBSVM:
            return _libsvm_command(cmd_name)
        if cmd_name not in COMMANDS:
            return None
        home = f"maxmargin.cli.commands.{cmd_name}"
        command: click.Command = importlib.import_module(home).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        for title, commands in (("Commands", COMMANDS), ("As LIBSVM has them", LIBSVM)):
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        with unknown_to_click():
            return super().invoke(ctx)

    def main(self, *args: Any, standalone_mode: bool = True, **options: Any) -> Any:
        """Run; every failure becomes one line on stderr and an exit code."""
        with shielded() as ended:
            run: Any = super().main  # whose overloads do not take *args
            ended.code = run(*args, standalone_mode=False, **options) or DONE
        if standalone_mode:
            sys.exit(ended.code)
        return ended.code


def _libsvm_command(name: str) -> click.Command:
    @click.pass_context
    def call(ctx: click.Context) -> int:
        home = f"maxmargin.cli.libsvm.{name.removeprefix('svm-')}"
        code: int = importlib.import_module(home).main(ctx.args)
        return code

    return RawCommand(name, callback=call, help=LIBSVM[name], add_help_option=False)


def _show_version(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value:
        import maxmargin

        click.echo(f"maxmargin {maxmargin.__version__}")
        ctx.exit()


def _load_plugins(
    _ctx: click.Context, _option: click.Parameter, value: Sequence[str]
) -> None:
    """Import modules before a command asks for the names that they register."""
    for name in value:
        try:
            importlib.import_module(name)
        except Exception as error:
            msg = f"--plugin {name}: this module cannot be imported"
            raise Failure(USAGE, f"{msg}, {type(error).__name__}: {error}") from error


@click.group(
    cls=Program,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="DATA may be LIBSVM text, CSV or TSV with a header (.bz2, .gz, .xz too), npz, "
    "Parquet or Arrow; - is standard input. Exit codes: 0 done, 1 internal error, "
    "2 wrong usage, 3 bad data, 4 not converged with --strict, 5 model and data do not "
    "fit or the model file is bad, 130 interrupted.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
    help="Show the version and exit.",
)  # fmt: skip
@click.option(
    "--plugin", "plugins", multiple=True, expose_value=False, callback=_load_plugins,
    metavar="MODULE",
    help="First import MODULE, which adds kernels, losses, solvers or machines.",
)  # fmt: skip
@click.pass_context
def program(ctx: click.Context) -> None:
    """Support vector machines that prove how good their answers are.

    \b
      maxmargin train iris.csv                 learn; writes iris.maxmargin
      maxmargin predict iris.maxmargin new.csv
    """  # noqa: D301
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
