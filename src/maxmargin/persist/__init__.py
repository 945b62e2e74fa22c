"""Models in files: the own format ``.maxmargin``, exact to the bit and without pickle.

The format is specified in ``docs/format.md``. Estimators, and with them Numba, are
imported when a file is saved or loaded, not before.

- :mod:`~maxmargin.persist.own_format`: save, load, and look into a file.
- :mod:`~maxmargin.persist.own_files`: the parts of the own format.
- :mod:`~maxmargin.persist.libsvm_model`: models in LIBSVM's text.
- :mod:`~maxmargin.persist.libsvm_files`: the parts of that text.

Examples
--------
>>> import tempfile, pathlib
>>> from maxmargin import SVC, persist
>>> model = SVC(kernel="linear").fit([[-1.0], [1.0]], ["left", "right"])
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder) / "sides.maxmargin"
...     persist.save(model, path)
...     persist.load(path).predict([[-3.0], [0.5]]).tolist()
['left', 'right']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maxmargin._lazy import exports

if TYPE_CHECKING:
    from maxmargin.persist.own_files.hashing import data_hash
    from maxmargin.persist.own_format import header, load, save

_HOME = {
    "data_hash": "own_files.hashing",
    "header": "own_format",
    "load": "own_format",
    "save": "own_format",
}

__all__ = ["data_hash", "header", "load", "save"]

__getattr__, __dir__ = exports(__name__, _HOME)
