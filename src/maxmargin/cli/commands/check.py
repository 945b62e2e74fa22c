"""``maxmargin check DATA``: every problem by file and line, and the main figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from maxmargin.cli.failures import BAD_DATA, DONE
from maxmargin.cli.options import data_options, output_options
from maxmargin.cli.output import Voice
from maxmargin.workflow.choices import TASKS, Choices

if TYPE_CHECKING:
    from maxmargin.workflow.survey import Survey


@click.command("check")
@click.argument("data")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Problems to list.",
)
@click.option(
    "--task",
    type=click.Choice(tuple(TASKS)),
    help="Task; by default the target decides.",
)
@data_options()
@output_options()
def command(data: str, limit: int, json_: bool, quiet: bool, **choices: Any) -> int:
    """List the problems of DATA as file:line: reason, and describe the data.

    The exit code is 3 if training would refuse DATA. Oddities that training accepts
    (constant columns, duplicates, classes of very different sizes) are listed too.
    """
    voice = Voice("check", json=json_, quiet=quiet)
    from maxmargin.workflow.survey import surveyed

    survey = surveyed(data, Choices(**choices))
    for problem in survey.problems[:limit]:
        voice.line(str(problem))
    if len(survey.problems) > limit:
        voice.line(f"… and {len(survey.problems) - limit:,} more problems")
    _tell(survey, voice)
    voice.know(
        data=survey.source,
        ok=not survey.problems,
        n_problems=len(survey.problems),
        problems=[
            {"path": one.path, "line": one.line, "reason": one.reason}
            for one in survey.problems[:limit]
        ],
        oddities=survey.oddities,
        **survey.facts,
    )
    voice.finish()
    return BAD_DATA if survey.problems else DONE


def _tell(survey: Survey, voice: Voice) -> None:
    for note in survey.notes:
        voice.note(note)
    for label, text in survey.lines:
        voice.figure(label, text)
    for oddity in survey.oddities:
        voice.figure("note", oddity)
    voice.figure("problems", f"{len(survey.problems):,}" if survey.problems else "none")
