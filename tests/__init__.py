# A package, so that ``from tests.data import ...`` means this one, in benchmarks too.
