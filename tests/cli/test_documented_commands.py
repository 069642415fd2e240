"""Every command in the documents exists, with the options that are given."""

from __future__ import annotations

import importlib.util
import pathlib
import re
import shlex
import subprocess
import sys
import tomllib

import pandas as pd
import pytest
from click.testing import CliRunner
from packaging.requirements import Requirement

import dask_graphflow as gf
from _graphflow_cli import NAMES, main
from benchmarks import __main__ as benchmarks

ROOT = pathlib.Path(__file__).parents[2]
PAGES = [page for page in ROOT.glob("docs/**/*.md") if "_build" not in page.parts]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PROGRAMS = ("graphflow", "pip", "python", "python3")
# Programs of the system, and settings of a shell.
OTHERS = (
    "NETWORKX_",
    "cd",
    "cp",
    "echo",
    "export",
    "git",
    "nvidia-cuda-mps-control",
    "pytest",
    "zcat",
)
MADE_IN_CONTRIBUTING = "graphflow average-neighbor-degree"  # tests/project/test_contributing.py


def commands():
    """Return the commands in shell blocks and in the text; a pipe has several."""
    found = []
    for document in DOCUMENTS:
        text = document.read_text()
        for block in re.findall(r"```shell\n(.*?)```", text, re.DOTALL):
            lines = [re.sub(r"\s#\s.*", "", line) for line in block.splitlines()]
            found += [part.strip() for line in lines for part in line.split(" | ")]
        text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        found += re.findall(rf"`((?:{'|'.join(PROGRAMS)}) [^`]+)`", text)
    return sorted({*found} - {MADE_IN_CONTRIBUTING})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which commands run, with the files that they read."""
    pairs = pd.DataFrame({"left": [1, 1, 2, 3], "right": [2, 3, 3, 4]})
    pairs.to_parquet(tmp_path / "pairs.parquet")
    gf.Graph(pairs, source="left", target="right").save(tmp_path / "web")
    pairs.iloc[:1].to_parquet(tmp_path / "old.parquet")
    pairs.iloc[:2].assign(left=9).to_parquet(tmp_path / "new.parquet")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", commands())
def test_commands_exist(command, monkeypatch):
    program, *arguments = shlex.split(command)
    if program == "graphflow":
        run(arguments)
    elif program == "pip":
        check_installation(arguments)
    elif program in PROGRAMS:
        check_python(arguments, monkeypatch)
    else:
        assert program.startswith(OTHERS), "add a check for this program"


def run(arguments):
    """Run a command of the library. If its files are not named, check only that it exists."""
    alone = len(arguments) == 1 and arguments[0] in NAMES and arguments[0] != "doctor"
    csv = b"source,target\n1,2\n"
    done = CliRunner().invoke(main, [*arguments, *(["--help"] if alone else [])], input=csv)
    if arguments != ["doctor"]:  # it may find that something is wrong on this machine
        assert done.exit_code == 0, done.output


def check_installation(arguments):
    """Check that the extras exist, and that the library or a page uses the other packages."""
    command, *wanted = (word for word in arguments if word not in ("-e", "-c"))
    assert command == "install"
    extras = PROJECT["optional-dependencies"]
    used = {Requirement(one).name for one in [*PROJECT["dependencies"], *extras["docs"]]}
    for one in wanted:
        if (ROOT / one).is_file():
            continue  # a file of constraints
        name, _, rest = one.partition("[")
        if name in (".", PROJECT["name"]):
            assert {*filter(None, rest.strip("]").split(","))} <= extras.keys()
        else:
            assert Requirement(one).name in used


def check_python(arguments, monkeypatch):
    """Parse the arguments of the programs of this repository; check that a module exists."""
    if arguments[0] == "dev.py":
        command = [sys.executable, ROOT / "dev.py", arguments[1], "--help"]
        subprocess.run(command, check=True, capture_output=True)
    elif arguments[:2] == ["-m", "benchmarks"]:
        for module in benchmarks.COMMANDS:
            monkeypatch.setattr(module, "run", lambda _: 0)
        if len(arguments) > 2 and arguments[2:] != ["--help"]:
            assert benchmarks.main(arguments[2:]) == 0
    elif arguments[0] == "-m":
        assert importlib.util.find_spec(arguments[1])
    else:
        assert arguments[0] in ("-c", "program.py")
