r"""Model files of LIBSVM: read, written, and made of our machines.

Examples
--------
>>> import io
>>> from maxmargin import SVC
>>> from maxmargin.persist import libsvm_model
>>> machine = SVC(kernel="linear").fit([[0.0], [1.0]], [-1, 1])
>>> stream = io.BytesIO()
>>> libsvm_model.write_libsvm_model(libsvm_model.from_estimator(machine), stream)
>>> print(stream.getvalue().decode().replace(" \n", "\n"), end="")
svm_type c_svc
kernel_type linear
nr_class 2
total_sv 2
rho -0.5
label -1 1
nr_sv 1 1
SV
1
-1 1:1
>>> again = libsvm_model.to_estimator(
...     libsvm_model.read_libsvm_model(stream.getvalue())
... )
>>> again.predict([[0.2], [0.9]]).tolist()
[-1, 1]
"""

from maxmargin.persist.libsvm_files.layout import (
    KERNEL_TYPES,
    LARGEST_INT,
    MARKS,
    SVM_TYPES,
    LibsvmModel,
    pairs,
    widened,
)
from maxmargin.persist.libsvm_files.machines import (
    from_estimator,
    in_file_order,
    to_estimator,
)
from maxmargin.persist.libsvm_files.reader import read_libsvm_model
from maxmargin.persist.libsvm_files.writer import write_libsvm_model

__all__ = [
    "KERNEL_TYPES",
    "LARGEST_INT",
    "MARKS",
    "SVM_TYPES",
    "LibsvmModel",
    "from_estimator",
    "in_file_order",
    "pairs",
    "read_libsvm_model",
    "to_estimator",
    "widened",
    "write_libsvm_model",
]
