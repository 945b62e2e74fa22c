"""The parts of maxmargin's own file format.

- :mod:`~maxmargin.persist.own_files.container`: the strict zip.
- :mod:`~maxmargin.persist.own_files.npy`: arrays.
- :mod:`~maxmargin.persist.own_files.encoding`: values to JSON.
- :mod:`~maxmargin.persist.own_files.decoding`: JSON to values.
- :mod:`~maxmargin.persist.own_files.tags`: the names of kinds of values.
- :mod:`~maxmargin.persist.own_files.registry`: the classes a file may name.
- :mod:`~maxmargin.persist.own_files.deleted`: what earlier versions had.
- :mod:`~maxmargin.persist.own_files.checks`: what must fit together in any object.
- :mod:`~maxmargin.persist.own_files.machine_checks`: the same for machines.
- :mod:`~maxmargin.persist.own_files.malformed`: refusals.
- :mod:`~maxmargin.persist.own_files.summary`: what people see of a file.
- :mod:`~maxmargin.persist.own_files.hashing`: fingerprints of data.
"""
