"""The commands, one a file.

- :mod:`~maxmargin.cli.commands.train`: learn a model from a file.
- :mod:`~maxmargin.cli.commands.predict`: predict with a model.
- :mod:`~maxmargin.cli.commands.cv`: cross-validate.
- :mod:`~maxmargin.cli.commands.scale`: bring features to a common scale.
- :mod:`~maxmargin.cli.commands.check`: find the problems of a file.
- :mod:`~maxmargin.cli.commands.inspect`: show a model and its certificate.
- :mod:`~maxmargin.cli.commands.convert`: write data or a model in another format.
"""
