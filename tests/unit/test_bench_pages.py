"""The pages of results say what is stored, and the README's ratios hide no loss."""

import json

import pytest
from benchmarks import calibration, latency, page, quality, ratios
from benchmarks.linear import pages as linear_pages
from benchmarks.linear import score as linear_score
from benchmarks.speed import pages, score


def stored(name):
    return json.loads((page.STORED / f"{name}.json").read_text(encoding="utf-8"))


def drawn(name):
    return stored(name) | {"drawn": True}  # pictures are on the page, not in the file


TEXTS = {
    "speed": (pages.PAGE, lambda: pages.text(drawn("speed"))),
    "linear": (linear_pages.PAGE, lambda: linear_pages.text(drawn("linear"))),
    "quality": ("quality.md", lambda: quality.text(stored("quality"))),
    "calibration": ("calibration.md", lambda: calibration.text(stored("calibration"))),
    "latency": ("latency.md", lambda: latency.text(stored("latency"))),
    "ratios": (page.README, ratios.text),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_page_says_what_is_stored(name):
    where, text = TEXTS[name]
    assert page.between(name, page.RESULTS / where) == text()


def test_tables_without_stored_figures_are_filled():
    for name, where, least in (("files", "files.md", 6), ("paths", "linear-paths.md", 9)):
        assert len(page.between(name, page.RESULTS / where).splitlines()) >= least


def test_every_page_of_results_is_in_their_index():
    index = (page.RESULTS / "README.md").read_text(encoding="utf-8")
    for path in page.RESULTS.glob("*.md"):
        assert path.name == "README.md" or f"({path.name})" in index


def test_the_readme_shows_the_worst_rows():
    kernel, flat = stored("speed"), stored("linear")
    found = ratios.ratios(kernel, flat)
    assert len(found) == 8
    both = (score.lines(kernel["rows"], dtype) for dtype in ("float64", "float32"))
    every = [line for lines in both for line in lines]
    rows = linear_score.lines(flat["rows"], 1e-3)
    worst = [one for one in found if "worst" in one.what]
    assert [one.value for one in worst] == [
        min(line.fastest for line in every if line.fastest),
        min(line.decide_fastest for line in every if line.decide_fastest),
        min(line.fastest for line in rows if line.fastest),
    ]
    text = ratios.text()
    assert text.count("slower") == sum(one.value < 1.0 for one in found)
    assert all(one.peer in text for one in worst)


def test_ratios_of_two_sets():
    kernel, flat = stored("speed"), stored("linear")
    kernel["rows"] = [row for row in kernel["rows"] if row["set"] in ("iris", "usps")]
    for row in kernel["rows"]:
        if row["set"] == "usps":
            row["machines"].pop("scikit-learn", None)
    found = ratios.ratios(kernel, flat)
    assert found[0].data == "mean of 2 sets"
    assert found[1].data == "mean of 1 of 2 sets"
    assert found[2].data.startswith("iris (150 × 4")
    assert found[2].peer == "LIBSVM"
    assert found[2].cells[-1].endswith("×**, slower")
    flat["rows"] = flat["rows"][:1]  # a dense set, and no sparse one
    with pytest.raises(ValueError, match="no row has a ratio: fit, linear, sparse"):
        ratios.ratios(kernel, flat)


def test_text_is_replaced_between_its_markers_only(tmp_path):
    where = tmp_path / "page.md"
    marks = [f"<!-- {name}: {end} -->" for name in "ab" for end in ("begin", "end")]
    where.write_text("\n".join(["head", *marks[:3], "b", marks[3], ""]))
    assert page.between("a", where) == ""
    page.write("a", "one\n\ntwo", where)
    assert page.between("a", where) == "one\n\ntwo"
    assert page.between("b", where) == "b"
    with pytest.raises(ValueError, match=r"page\.md: needs one line <!-- c: begin -->"):
        page.write("c", "text", where)
