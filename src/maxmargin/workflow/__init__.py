"""From a file to a model: file → table → plan → fit → model.

Nothing here prints or knows the command line: choices come in as one record, notes go to
a function, progress to an observer, and what cannot be done is an exception of
:mod:`maxmargin.errors`.

- :mod:`~maxmargin.workflow.choices`: what a person chooses, and from which names.
- :mod:`~maxmargin.workflow.survey`: what a file holds, and what is wrong with it.
- :mod:`~maxmargin.workflow.machines`: choices → an unfitted machine.
- :mod:`~maxmargin.workflow.preparing`: rows, encoded and scaled.
- :mod:`~maxmargin.workflow.learning`: file → table → plan → fit.
- :mod:`~maxmargin.workflow.models`: models in files, and rows for them.
- :mod:`~maxmargin.workflow.scores`: how good predictions are.
- :mod:`~maxmargin.workflow.folds`: scores by cross-validation.
"""
