"""``python -m maxmargin`` is the command ``maxmargin``."""

from __future__ import annotations

import sys

from maxmargin.cli import main

sys.exit(main())
