"""``maxmargin cv DATA``: how good would a model be on rows it has not seen?"""

from __future__ import annotations

from typing import Any

import click

from maxmargin.cli.failures import DONE, INTERRUPTED, NOT_CONVERGED, Failure
from maxmargin.cli.options import data_options, learning_options, output_options
from maxmargin.cli.output import Voice
from maxmargin.workflow.choices import Choices


@click.command("cv")
@click.argument("data")
@click.option(
    "-k",
    "--folds",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    help="Number of folds.",
)
@data_options()
@learning_options()
@output_options(progress=True, strict="Exit with 4 if a fold did not converge.")
def command(
    data: str, json_: bool, quiet: bool, progress: str, strict: bool, **choices: Any
) -> int:
    """Cross-validate: accuracy or R² of every fold, mean and standard deviation.

    Folds are stratified by class and drawn with --seed; encoder and scaler are fitted
    on the training rows of each fold alone.
    """
    voice, chosen = Voice("cv", json=json_, quiet=quiet), Choices(**choices)
    from maxmargin.workflow.folds import cross_validate
    from maxmargin.workflow.learning import planned, read_for_learning
    from maxmargin.workflow.machines import machine_facts, machine_line

    table = read_for_learning(data, chosen, voice.note)
    plan = planned(table, chosen, voice.note)
    voice.tell_notes()
    k = chosen.folds or 0
    found = cross_validate(plan, k, chosen.seed, watch=voice.watch(progress))
    voice.figure("machine", machine_line(plan.machine))
    for label, text in found.lines():
        voice.figure(label, text)
    voice.know(
        data={"path": table.source, "format": table.format, "rows": table.n_rows},
        task=plan.task,
        machine=machine_facts(plan.machine),
        interrupted=found.interrupted,
        **found.facts(),
    )
    voice.finish()
    done = len(found.folds)
    if found.interrupted:
        raise Failure(INTERRUPTED, f"interrupted after {done} of {k} folds")
    if strict and not found.converged:
        late = sum(not one.converged for one in found.folds)
        raise Failure(NOT_CONVERGED, f"not converged in {late} of {done} folds")
    return DONE
