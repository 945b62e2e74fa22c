"""The one argument of every example: where its figures go."""

import argparse
from pathlib import Path


def asked_folder(about: str | None) -> Path:
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path("figures"), help="for the figures"
    )
    folder: Path = parser.parse_args().folder
    return folder
