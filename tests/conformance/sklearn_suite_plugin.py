"""A pytest plugin for scikit-learn's own tests: our classes under its names.

``pytest -p tests.conformance.sklearn_suite_plugin <file of scikit-learn's tests>`` puts
the classes of :data:`OURS` into ``sklearn.svm`` before any test is imported, and notes in
the XML report which classes each test is about. No installed file is changed; as the
change lasts as long as the process, the plugin belongs into a process of its own.
"""

import inspect
import re

import sklearn.svm

import maxmargin

OURS = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR")
# What of sklearn.svm is not ours: the private chooser of its dual=.
THEIRS = ("_validate_dual_parameter",)
NAMED = re.compile(rf"\b({'|'.join([*OURS, *THEIRS])})\b")


def pytest_configure(config):
    for name in OURS:
        setattr(sklearn.svm, name, getattr(maxmargin, name))


def pytest_collection_modifyitems(items):
    """A test is about the classes that its source, decorators included, names."""
    for item in items:
        about = set(NAMED.findall(inspect.getsource(item.function)))
        item.user_properties.append(("about", " ".join(sorted(about))))
