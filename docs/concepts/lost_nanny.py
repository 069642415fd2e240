"""A worker of plain Dask that is killed twice within the timeout, and never started again."""

import os
import signal
import time

import dask
from distributed import Client, LocalCluster

dask.config.set({"distributed.deploy.lost-worker-timeout": "10s"})

if __name__ == "__main__":
    cluster = LocalCluster(n_workers=1, dashboard_address=":0")
    client = Client(cluster)
    os.kill(cluster.workers[0].pid, signal.SIGKILL)
    first = time.monotonic()
    time.sleep(0.5)
    client.wait_for_workers(1)  # the nanny has started the worker again
    time.sleep(max(0, first + 9.9 - time.monotonic()))
    os.kill(cluster.workers[0].pid, signal.SIGKILL)
    time.sleep(20)
    print(cluster.workers, client.nthreads())  # both are empty, and stay so
