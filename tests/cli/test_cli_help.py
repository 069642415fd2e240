"""Help and version: they respond without importing the package, and say what the commands say."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

import _graphflow_cli
from _graphflow_cli import NAMES, main

COMMANDS = [[name] for name in NAMES] + [["generate", name] for name in ("rmat", "grid", "path")]


def shown(*arguments):
    result = CliRunner().invoke(main, arguments, prog_name="graphflow")
    assert result.exit_code == 0
    return result.output


def test_the_help_of_every_command_is_that_of_the_command_itself(monkeypatch):
    quick = [shown(*command, "--help") for command in COMMANDS]
    monkeypatch.setattr(_graphflow_cli, "asks_for_help", lambda args: False)
    for command, text in zip(COMMANDS, quick, strict=True):
        assert shown(*command, "--help") == text


@pytest.mark.parametrize(
    "arguments", [["-h"], ["edges.csv", "--bogus", "-h"], ["--source", "a", "--help", "edges.csv"]]
)
def test_help_is_shown_whatever_else_is_given(arguments):
    assert shown("bfs", *arguments) == shown("bfs", "--help")
    assert shown("components", "--help") == shown("connected-components", "--help")


def test_a_file_may_have_the_name_of_the_help_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--help").write_text("1 2\n")
    assert "rows" in shown("info", "--format", "text", "--", "--help")


def test_help_and_version_import_only_click():
    code = (
        "import sys; before = {*sys.modules}; from _graphflow_cli import main\n"
        "for asked in ['--help'], ['--version'], ['bfs', '--help'], ['generate', 'rmat', '-h']:\n"
        "    main(asked, standalone_mode=False)\n"
        "heavy = {'dask', 'numba', 'numpy', 'pandas', 'pyarrow', 'dask_graphflow'} & sys.modules.keys()\n"
        "sys.exit(str(heavy - before) if heavy - before else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(f"\n  {name} " in done.stdout for name in NAMES)
    assert "\ngraphflow, version " in done.stdout
    assert "Usage: main bfs [OPTIONS] PATH..." in done.stdout.replace("-c", "main")
