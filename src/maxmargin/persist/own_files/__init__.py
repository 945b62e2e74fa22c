"""The parts of maxmargin's own file format.

- :mod:`~maxmargin.persist.own_files.malformed`: refusals of a file.
- :mod:`~maxmargin.persist.own_files.container`: the zip, read strictly.
- :mod:`~maxmargin.persist.own_files.npy`: arrays.
- :mod:`~maxmargin.persist.own_files.registry`: the classes and types a file may name.
- :mod:`~maxmargin.persist.own_files.checks`: what must fit together in an object.
- :mod:`~maxmargin.persist.own_files.encoding`: values to JSON.
- :mod:`~maxmargin.persist.own_files.deleted`: names that only earlier versions had.
- :mod:`~maxmargin.persist.own_files.decoding`: JSON to values.
- :mod:`~maxmargin.persist.own_files.summary`: the description that people read.
- :mod:`~maxmargin.persist.own_files.hashing`: fingerprints of data.
"""
