"""The README's example, run as it is printed."""

import doctest
import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_example_prints_what_it_says():
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    test = doctest.DocTestParser().get_doctest(example, {}, "README", str(README), 0)
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    assert result.attempted >= 8
    assert result.failed == 0
