"""From a file to a model: file, table, plan, fit, model.

- :mod:`~maxmargin.workflow.survey`: what a file holds, and what is wrong with it.
- :mod:`~maxmargin.workflow.preparing`: rows, before a machine sees them.
- :mod:`~maxmargin.workflow.machines`: which machine, with which parameters.
- :mod:`~maxmargin.workflow.learning`: fit it.
- :mod:`~maxmargin.workflow.folds`: scores by cross-validation.
- :mod:`~maxmargin.workflow.scores`: what a score is.
- :mod:`~maxmargin.workflow.models`: models in files.
"""
