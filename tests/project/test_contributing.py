"""The example of a new algorithm in CONTRIBUTING.md passes its test, and its test can fail."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FILES = dict(
    re.findall(
        r"Save this as\s`(\S+\.py)`:\n\n```python\n(.*?)```",
        (ROOT / "CONTRIBUTING.md").read_text(),
        re.DOTALL,
    )
)
ALGORITHM, TEST = FILES


@pytest.fixture
def clone(tmp_path):
    """Return a copy of the repository with the example. What the example does not change is linked."""
    for name in ("pyproject.toml", "_graphflow_cli", "_graphflow_networkx"):
        (tmp_path / name).symlink_to(ROOT / name)
    package = tmp_path / "dask_graphflow"
    package.mkdir()
    for path in (ROOT / "dask_graphflow").iterdir():
        if path.name != "algorithms":
            (package / path.name).symlink_to(path)
    caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "dask_graphflow" / "algorithms", package / "algorithms", ignore=caches)
    (tmp_path / "tests").mkdir()
    for name in ("conftest.py", "nx_graphs.py"):
        (tmp_path / "tests" / name).symlink_to(ROOT / "tests" / name)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def run(clone):
    options = ("-q", "-p", "no:cacheprovider", "-m", "not slow")
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, TEST, ALGORITHM],
        cwd=clone,
        env=os.environ | {"PYTHONPATH": str(clone), "PYTEST_XDIST_WORKER": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    ).stdout


@pytest.mark.parametrize(
    ("slot", "outcome"), [("add", "25 passed"), ("max", r"\d+ failed, \d+ passed")]
)
def test_the_new_algorithm_passes_its_test_and_with_a_fault_fails_it(clone, slot, outcome):
    text = FILES[ALGORITHM].replace('slot="add"', f'slot="{slot}"')
    (clone / ALGORITHM).write_text(text)
    assert re.search(outcome, run(clone))
