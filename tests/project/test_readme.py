"""Every command and claim of README holds in an empty folder."""

from __future__ import annotations

import pathlib
import re
import shlex
import subprocess
import sys
import tomllib

import pytest
from click.testing import CliRunner

import dask_graphflow as gf
from _graphflow_cli import NAMES, main

ROOT = pathlib.Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = re.findall(r"`graphflow ([^`]+)`", TEXT)


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """The empty folder in which the examples run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def names(empty):
    """The names that the examples define, and what they print."""
    names = {}
    for language, block in BLOCKS:
        if language == "python":
            exec(block, names)
    return names


@pytest.mark.usefixtures("empty")
def test_the_examples_run_in_order_and_print_what_is_shown(capsys, request):
    assert len(request.getfixturevalue("names")["people"]) == 5
    shown = [block for language, block in BLOCKS if language == "text"]
    assert [capsys.readouterr().out] == shown


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_take_the_edges_of_the_example(command, names):
    names["pairs"].to_parquet("pairs.parquet")
    done = CliRunner().invoke(main, shlex.split(command))
    assert done.exit_code == 0, done.output
    assert re.search(r"^\s*3\s+4$", done.output, re.MULTILINE)  # the bridge that the example finds


def test_every_function_in_the_table_is_a_method_and_a_command():
    table = TEXT.split("## What it finds")[1].split("[Algorithms]")[0]
    functions = re.findall(r"`(\w+)`", table)
    assert len(functions) > 30
    assert not [name for name in functions if name not in gf.__all__]
    assert not [name for name in functions if not hasattr(gf.Graph, name)]
    assert not [name for name in functions if name.replace("_", "-") not in NAMES]


def test_the_setup_comes_first_and_needs_a_clone_and_nothing_else():
    language, setup = BLOCKS[0]
    assert language == "shell"
    clone, folder, *commands = (line.partition("#")[0].split() for line in setup.splitlines())
    assert clone == ["git", "clone", PROJECT["urls"]["Source"]]
    assert folder == ["cd", PROJECT["urls"]["Source"].rpartition("/")[2]]
    assert [one[:2] for one in commands] == [["python3", "dev.py"]] * 2
    assert [one[2:] for one in commands] == [["demo"], ["test"]]
    assert "python3 dev.py test" in (ROOT / ".ci" / "run").read_text()


def test_the_address_of_the_site_is_that_of_the_package():
    assert f"({PROJECT['urls']['Documentation']})" in TEXT


def test_the_demo_says_what_it_found_in_a_sentence(empty):
    labels = gf.connected_components(
        gf.read_edges(gf.datasets.debian12_deps()), source="src", target="dst"
    ).compute()
    labels.to_parquet("labels.parquet")
    program = ROOT / "examples" / "say_groups.py"
    done = subprocess.run(
        [sys.executable, program, "labels.parquet"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(
        "The 65,839 packages of Debian 12 form 180 groups. No package depends on one of another group.\n"
        "The largest group has 65,255 packages (99% of all), and the second largest has 30.\n"
    )
