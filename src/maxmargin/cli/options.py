"""Options that several commands share; their names are the fields of Choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeAlias

import click

from maxmargin.data_files.formats import FORMATS
from maxmargin.workflow.choices import (
    SCALINGS,
    TASKS,
    default_machine,
    kernel_names,
    machine_names,
)

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]


class OneOf(click.Choice):  # type: ignore[type-arg]
    """One of the names that a function returns; a plugin may add names before parsing."""

    def __init__(self, names: Callable[[], Sequence[str]]) -> None:
        self._names = names
        self.case_sensitive = True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names at this moment."""
        return tuple(self._names())


class Gamma(click.ParamType):  # type: ignore[type-arg]
    """A number, or a word for one."""

    name = "NUMBER|scale|auto"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """A float, or the word."""
        if value in ("scale", "auto"):
            return value
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor scale or auto", param, ctx)


class ClassWeight(click.ParamType):  # type: ignore[type-arg]
    """``balanced``, or ``label=weight,label=weight``."""

    name = "balanced|LABEL=W,…"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """The word, or a dict from label (as text) to weight."""
        if value == "balanced" or isinstance(value, dict):
            return value
        weights = {}
        for part in value.split(","):
            label, sign, weight = part.rpartition("=")
            try:
                weights[label.strip()] = float(weight)
            except ValueError:
                sign = ""
            else:
                if not 0.0 <= float(weight) < float("inf"):
                    self.fail(f"{part!r}: a weight is a number from 0 on", param, ctx)
            if not sign:
                self.fail(f"{part!r} is not LABEL=WEIGHT (or say balanced)", param, ctx)
        return weights


def stacked(*options: Decorator) -> Decorator:
    """Several options as one decorator, shown in their order."""
    return lambda command: reduce(lambda made, add: add(made), options[::-1], command)


def data_options(*, target: bool = True) -> Decorator:
    """Options for reading a file of data."""
    wanted = [
        click.option("--format", type=click.Choice(FORMATS),
                     help="Format of DATA; by default its extension says it."),
    ]  # fmt: skip
    if target:
        wanted += [
            click.option("--target", metavar="NAME",
                         help="Column to predict [target, label, class, y; else last]."),
            click.option("--impute",
                         type=click.Choice(("mean", "median", "most_frequent")),
                         help="Fill missing values in; by default they are refused."),
        ]  # fmt: skip
    return stacked(*wanted)


def output_options(*, progress: bool = False, strict: str = "") -> Decorator:
    """Options for the output of a command."""
    wanted = [
        click.option("--json", "json_", is_flag=True, help="Print one JSON object."),
        click.option("-q", "--quiet", is_flag=True, help="No notes and no progress."),
    ]
    if progress:
        wanted.append(
            click.option("--progress", type=click.Choice(("auto", "plain", "none")),
                         default="auto", show_default=True,
                         help="A bar, plain lines, or nothing.")
        )  # fmt: skip
    if strict:
        wanted.append(click.option("--strict", is_flag=True, help=strict))
    return stacked(*wanted)


def learning_options() -> Decorator:
    """Options for a fit."""
    number = click.FLOAT
    return stacked(
        click.option("--task", type=click.Choice(tuple(TASKS)),
                     help="Task; by default the target decides."),
        click.option("--machine", type=OneOf(machine_names), default="auto",
                     show_default=True, help="auto: {}, {} or {} by the task.".format(
                         *map(default_machine, TASKS))),
        click.option("--kernel", type=OneOf(kernel_names), help="Kernel [rbf]."),
        click.option("-C", "--C", "C", type=number, metavar="NUMBER",
                     help="Price of an error [1; regression: the target's std]."),
        click.option("--gamma", type=Gamma(), metavar="NUMBER|scale|auto",
                     help="Scale of the kernel [scale]."),
        click.option("--sigma", type=number, metavar="NUMBER",
                     help="Width of the rbf kernel: gamma = 1/(2 sigma²)."),
        click.option("--degree", type=int, help="Degree of the poly kernel [3]."),
        click.option("--coef0", type=number, metavar="NUMBER",
                     help="Constant of the poly and sigmoid kernels [0]."),
        click.option("--nu", type=number, metavar="NUMBER",
                     help="Share of errors, for nu-svc, nu-svr, one-class, svdd [0.5]."),
        click.option("--epsilon", type=number, metavar="NUMBER",
                     help="Half width of the tube of svr [0.1 of the target's std]."),
        click.option("--solver", metavar="NAME", help="Solver [auto]."),
        click.option("--tol", type=number, metavar="NUMBER",
                     help="Tolerance [the machine's]."),
        click.option("--max-iter", type=int, help="Limit on iterations [none]."),
        click.option("--time-limit", type=number, metavar="SECONDS",
                     help="Stop after this time, and keep the model so far."),
        click.option("--class-weight", type=ClassWeight(),
                     metavar="balanced|LABEL=NUMBER,…", help="Factors of C by class."),
        click.option("--scale", type=click.Choice(("auto", *SCALINGS)),
                     default="auto", show_default=True,
                     help="Scaling of the features, part of the model; auto: standard "
                     "for dense tables, none for LIBSVM text and sparse rows."),
        click.option("--probability", is_flag=True, help="Learn probabilities too."),
        click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0,
                     show_default=True, help="Seed of folds and of random solvers."),
        click.option("--jobs", type=int,
                     help="Threads [every core]; they do not change results."),
        click.option("--n-features", type=click.IntRange(1, 2**31 - 2), metavar="N",
                     help="Number of features of LIBSVM text, if DATA lacks the last."),
    )  # fmt: skip
