"""Progress of what is measured: of a calibration, here and on a cluster, and of a sweep."""

from __future__ import annotations

import io
import sys

import dask
import pytest

import dask_graphflow as gf
from dask_graphflow.api import measuring, rate_store
from dask_graphflow.exceptions import OptionError


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Store measurements in a folder of the test, and measure tiny graphs."""
    monkeypatch.setattr(rate_store, "_measured", {})
    for name, value in (("SCALE", 8), ("ROUNDS", 2), ("REPEAT", 1), ("BYTES", 1 << 10)):
        monkeypatch.setattr(measuring, name, value)
    told = {"graphflow.calibration.path": str(tmp_path)}
    with dask.config.set(told):
        yield tmp_path


def test_calibration_reports_every_run(kept):
    told = []
    found = gf.calibrate(progress=told.append)
    assert [step["done"] for step in told] == [1, 2, 3, 4, 5]
    assert {(step["kernel"], step["vertices"], step["total"]) for step in told} == {
        ("pulls", 256, 5)
    }
    assert found.kinds[0].rates.pulls


def test_a_terminal_shows_a_bar_and_a_log_file_nothing(kept, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    gf.calibrate()
    shown = sys.stderr.getvalue().replace("\r", "\n").rstrip().splitlines()[-1]
    assert shown.startswith("calibrate ")
    assert "5/5" in shown
    assert "of 256 vertices" in shown
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    gf.calibrate()
    assert sys.stderr.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", Terminal())
    gf.calibrate(progress=False)
    assert sys.stderr.getvalue() == ""


def test_a_worker_of_a_cluster_reports_progress_to_the_client(kept):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
    ):
        told = []
        found = gf.calibrate(progress=told.append)
        done = [step["done"] for step in told]
        # The call can leave out steps in between, but has reported the first and the last when it returns.
        assert done == sorted(set(done))
        assert (done[0], done[-1]) == (1, 5)
        assert found.kinds[0].addresses


def test_an_invalid_progress_option_is_refused():
    with pytest.raises(OptionError, match=r"progress='yes'.*True for a progress bar"):
        gf.calibrate(progress="yes")
