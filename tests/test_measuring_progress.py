"""Progress of what is measured: of a calibration, here and on a cluster, and of a sweep."""

from __future__ import annotations

import io
import sys

import dask
import pytest

import dask_graphflow as gf
from dask_graphflow.costs import links, measuring, store
from dask_graphflow.costs.rates import KERNELS
from dask_graphflow.exceptions import OptionError


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Store measurements in a folder of the test, and measure tiny graphs."""
    monkeypatch.setattr(store, "_measured", {})
    for of, name, value in (
        (measuring, "REPEAT", 1),
        (measuring, "ENOUGH", 0.0),
        (links, "ROUNDS", 2),
        (links, "REPEAT", 1),
        (links, "BYTES", 1 << 10),
    ):
        monkeypatch.setattr(of, name, value)
    told = {"graphflow.calibration.path": str(tmp_path), "graphflow.calibration.scales": [6, 8]}
    with dask.config.set(told):
        yield tmp_path


def test_calibration_reports_every_kernel_on_every_graph(kept):
    told = []
    found = gf.calibrate(progress=told.append)
    assert [step["done"] for step in told] == [*range(1, 3 * len(KERNELS) + 1)]
    assert {step["total"] for step in told} == {3 * len(KERNELS)}
    each = len(KERNELS)
    sizes = [64] * each + [64] * each + [256] * each  # the first to compile them
    assert [step["vertices"] for step in told] == sizes
    for at in range(0, 3 * each, each):
        assert sorted(step["kernel"] for step in told[at : at + each]) == sorted(KERNELS)
    assert found.kinds[0].rates.sizes == (64, 256)


def test_a_terminal_shows_a_bar_and_a_log_file_nothing(kept, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    gf.calibrate()
    shown = sys.stderr.getvalue().replace("\r", "\n").rstrip().splitlines()[-1]
    assert shown.startswith("calibrate ")
    assert "21/21" in shown
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
        assert (done[0], done[-1]) == (1, 21)
        assert found.kinds[0].addresses


def test_an_invalid_progress_option_is_refused():
    with pytest.raises(OptionError, match=r"progress='yes'.*True for a progress bar"):
        gf.calibrate(progress="yes")
