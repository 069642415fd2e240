"""The package imports no tool before it is used, and the examples of its page that need a tool run."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

import dask_graphflow as gf

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "howto" / "integrations.md"
TOOLS = ["anndata", "graphrag", "natsort", "scanpy", "splink", "torch", "torch_geometric"]


def test_the_modules_import_no_tool():
    code = (
        "import sys, dask_graphflow as gf\n"
        "assert 'dask_graphflow.integrations' not in sys.modules\n"
        "assert set(gf.integrations.__all__) <= set(dir(gf.integrations))\n"
        "assert not [one for one in sys.modules if one.startswith('dask_graphflow.integrations.')]\n"
        "gf.integrations.graphrag, gf.integrations.scanpy, gf.integrations.splink\n"
        f"assert not {{*{TOOLS}}} & {{*sys.modules}}\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_a_name_that_is_no_module_raises():
    with pytest.raises(AttributeError, match="did you mean 'scanpy'"):
        _ = gf.integrations.scampy


def test_a_missing_tool_says_what_to_install():
    code = (
        "import sys, dask_graphflow as gf\n"
        "sys.modules['torch'] = None\n"
        "try:\n"
        "    gf.integrations.pytorch_geometric\n"
        "except gf.exceptions.BackendError as error:\n"
        "    assert 'pip install torch torch_geometric' in str(error), error\n"
        "else:\n"
        "    raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.filterwarnings("ignore")  # those of the real libraries
@pytest.mark.parametrize(("block", "tool"), [(0, "scanpy"), (1, "torch_geometric")])
def test_the_examples_of_the_page_run(block, tool):
    pytest.importorskip(tool)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 2
    assert f"import {tool}" in blocks[block] or f"from {tool}" in blocks[block]
    exec(blocks[block], {})
