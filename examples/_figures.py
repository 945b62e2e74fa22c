"""What the examples share: where figures go, and one key for several axes."""

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


def one_key(figure, axes):
    """The legend of the axes that have most to explain, below all of them."""
    keys = [ax.get_legend() for ax in axes]
    fullest = max(keys, key=lambda key: len(key.get_texts()))
    names = [text.get_text().split(" (")[0] for text in fullest.get_texts()]
    figure.legend(
        fullest.legend_handles, names, loc="outside lower center", ncols=len(names)
    )
    for key in keys:
        key.remove()
