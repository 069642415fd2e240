"""A command that a signal ends leaves nothing behind, and says so in its exit code."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from _graphflow_cli import main
from _graphflow_cli.signals import SIGNALS
from dask_graphflow.cli import output

COMMANDS = {
    "components": ["components", "in.csv"],
    "convert": ["convert", "in.csv"],
    "generate": ["generate", "path", "-n", "5"],
}


@pytest.fixture(autouse=True)
def _workplace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("src,dst\n1,2\n")


@pytest.fixture(autouse=True)
def _as_in_a_new_process():
    """Reset the signals: nohup and other tests change what this process does with them."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def ended_while_joining(monkeypatch):
    """Return a function that makes a command get a signal twice while it writes, as timeout sends it."""

    def prepare(number):
        def join(rows, target):
            Path(target).touch()
            try:
                signal.raise_signal(number)
            finally:
                signal.raise_signal(number)

        monkeypatch.setattr(output, "_join_parquet", join)

    return prepare


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("out", ["out.parquet", "out/"])
def test_a_signal_ends_a_command_without_a_trace(name, code, command, out, ended_while_joining):
    number = getattr(signal, name, None)
    if number is None:
        pytest.skip("this system does not have the signal")
    ended_while_joining(number)
    result = CliRunner().invoke(main, [*COMMANDS[command], "-o", out])
    assert (result.exit_code, result.stderr) == (code, "graphflow: terminated\n")
    assert os.listdir() == ["in.csv"]
    assert signal.getsignal(number) is signal.SIG_DFL


def test_a_hangup_that_is_ignored_stays_ignored(ended_while_joining):
    if not hasattr(signal, "SIGHUP"):
        pytest.skip("this system does not have the signal")
    ended_while_joining(signal.SIGHUP)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        result = CliRunner().invoke(main, ["convert", "in.csv", "-o", "out.parquet", "-q"])
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert result.exit_code == 0
    assert Path("out.parquet").exists()
