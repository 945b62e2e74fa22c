"""``maxmargin cv DATA``: how good would a model be on rows it has not seen?"""

from __future__ import annotations

from typing import Any

import click

from maxmargin.cli.failures import DONE, INTERRUPTED, NOT_CONVERGED, Failure
from maxmargin.cli.options import data_options, learning_options, output_options
from maxmargin.cli.say import Voice


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
def command(**options: Any) -> int:
    """Cross-validate: accuracy or R² of every fold, mean and standard deviation.

    Folds are stratified by class and drawn with --seed; encoder and scaler are fitted
    on the training rows of each fold alone.
    """
    voice = Voice("cv", json=options["json_"], quiet=options["quiet"])
    from maxmargin.cli.describe import machine_line, tuned
    from maxmargin.workflow.folds import cross_validate, tell_scores
    from maxmargin.workflow.learning import planned, read_for_learning

    table = read_for_learning(options["data"], options, voice)
    plan = planned(table, options, voice, scaling=options["scale"])
    voice.tell_notes()
    found = cross_validate(table, plan, options["folds"], options["seed"])
    voice.figure("machine", machine_line(plan.machine))
    tell_scores(found, voice)
    voice.know(
        data={"path": table.source, "format": table.format, "rows": table.n_rows},
        task=plan.task,
        machine={"class": type(plan.machine).__name__, "parameters": tuned(plan.machine)},
        interrupted=found.interrupted,
        **found.facts(),
    )
    voice.finish()
    if found.interrupted:
        done = len(found.folds)
        raise Failure(
            INTERRUPTED, f"interrupted after {done} of {options['folds']} folds"
        )
    if options["strict"] and not found.converged:
        late = sum(not one.converged for one in found.folds)
        raise Failure(
            NOT_CONVERGED, f"not converged in {late} of {len(found.folds)} folds"
        )
    return DONE
