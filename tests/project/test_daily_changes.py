"""The tutorial on a graph that changes shows what its code prints. Its data are not part of the project."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import shutil

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "tutorials" / "daily_changes.md"
CELL = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


@pytest.mark.slow
def test_the_page_shows_what_its_code_prints(data, tmp_path, monkeypatch):
    shutil.copyfile(data / "scipy_commit_file.parquet", tmp_path / "commits.parquet")
    monkeypatch.chdir(tmp_path)
    cells, names = CELL.findall(PAGE.read_text()), {}
    assert len(cells) == 5
    for code, shown in cells:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, names)
        assert printed.getvalue() == shown
