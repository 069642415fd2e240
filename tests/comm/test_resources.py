"""What a member may use of its process: limits without Dask, and those of a worker."""

from __future__ import annotations

import pickle

import pytest
from distributed import get_worker

from dask_graphflow.comm import resources
from dask_graphflow.comm.resources import Resources
from dask_graphflow.exceptions import GraphMemoryError
from dask_graphflow.tasks import placement

LIMITED = Resources(memory_limit=10**9, pause=0.8, end=0.9, used=lambda: 6 * 10**8)


def test_a_step_has_to_fit_below_the_limit_at_which_a_worker_is_ended():
    assert LIMITED.fits(3 * 10**8)
    assert not LIMITED.fits(3 * 10**8 + 1)
    LIMITED.check_step(3 * 10**8, lambda: 0, "sort")
    with pytest.raises(
        GraphMemoryError, match=r"to sort takes .* memory_limit='1250MB'"
    ) as refused:
        LIMITED.check_step(4 * 10**8, lambda: 0, "sort")
    assert refused.value.needed == 1_250_000_000
    assert Resources().fits(10**30)


@pytest.mark.parametrize(("used", "times"), [(4 * 10**8, 0), (5 * 10**8, 1)])
def test_memory_is_given_back_near_the_limit_only(used, times, monkeypatch):
    given_back = []
    monkeypatch.setattr(resources, "give_back", lambda: given_back.append(1))
    Resources(memory_limit=10**9, used=lambda: used).relieve()
    assert len(given_back) == times


def resources_of_task():
    own, worker = placement.resources(2), get_worker()
    folder = pickle.loads(pickle.dumps(own.folder()))
    return own.threads, own.memory_limit, folder == worker.local_directory, own.used() > 0


def test_a_worker_lends_its_threads_its_memory_and_its_folder(client):
    (address, about), *_ = client.scheduler_info()["workers"].items()
    found = client.submit(resources_of_task, workers=[address], pure=False).result(timeout=20)
    assert found == (1, about["memory_limit"] or None, True, True)
