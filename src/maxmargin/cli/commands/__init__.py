"""The commands, one a file.

:mod:`~maxmargin.cli.commands.train`, :mod:`~maxmargin.cli.commands.predict`,
:mod:`~maxmargin.cli.commands.cv`, :mod:`~maxmargin.cli.commands.check`,
:mod:`~maxmargin.cli.commands.inspect`, :mod:`~maxmargin.cli.commands.convert`,
:mod:`~maxmargin.cli.commands.scale`.
"""
