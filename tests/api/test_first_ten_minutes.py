"""The inputs on the page of the first ten minutes give what the page says. Each row is a test."""

from __future__ import annotations

import pathlib
import re

import pytest

import dask_graphflow as gf

pytestmark = pytest.mark.usefixtures("host_memory")

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "howto" / "first_ten_minutes.md"
TEXT = PAGE.read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if line.startswith("| ") and not line.startswith("| you ")
]


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Return the names that the cells of the page define."""
    pytest.importorskip("duckdb", reason="the page reads frames of libraries that it imports")
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.mkdtemp", lambda: tmp_path_factory.mktemp("page"))
        cells = r"```\{code-cell\} python\n:tags: \[remove-output\]\n(.*?)```"
        for cell in re.findall(cells, TEXT, re.DOTALL):
            exec(cell, found)
    return found


def test_the_page_has_forty_rows():
    assert len(ROWS) >= 40
    assert len({code for _, code, _ in ROWS}) == len(ROWS)


@pytest.mark.parametrize(
    ("code", "outcome"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_each_row_of_the_page_gives_what_it_says(code, outcome, names):
    code, shown = code.strip("`"), re.findall("`([^`]+)`", outcome)
    if len(shown) == 1:
        found = eval(code, names)
        if hasattr(found, "compute"):
            found = found.compute().iloc[:, 0].tolist()
        assert repr(found) == shown[0]
        return
    error, *parts = shown
    message = re.compile(".*".join(map(re.escape, parts)), re.DOTALL)
    with pytest.raises(getattr(gf.exceptions, error, AttributeError), match=message) as raised:
        eval(code, names).compute()
    assert type(raised.value).__name__ == error
