"""Dask as an engine for runs on several machines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

from rising_bandits._extras import require
from rising_bandits.errors import InputError
from rising_bandits.experiments.workers import count_workers, deaf

CONNECT_SECONDS = 20.0
"""How long to wait for a scheduler, and then for its first worker."""


@contextlib.contextmanager
def cluster(scheduler: str, workers: int | None = None) -> Iterator[Executor]:
    """An executor on a Dask cluster, for `run_plan`.

    Workers need only the package, in the same version. A worker that dies costs at most the rounds since the last
    checkpoint: its part of the work goes to another one.

    Parameters
    ----------
    scheduler
        The address of a scheduler, such as ``tcp://host:8786``; or ``local`` for a cluster of processes on this
        machine, which ends with the ``with`` block.
    workers
        How many processes a local cluster has; by default one for each core that this process may use.

    Raises
    ------
    InputError
        There is no scheduler at the address, or it has no workers.
    MissingExtraError
        The extra ``dask`` is not installed.
    """
    require("dask", "distributed")
    import distributed

    dask: Any = distributed
    with contextlib.ExitStack() as stack:
        address: Any = scheduler
        if scheduler == "local":
            with deaf():
                local = dask.LocalCluster(
                    n_workers=count_workers(workers), threads_per_worker=1, dashboard_address=None, silence_logs=50
                )
            address = stack.enter_context(local)
        elif "://" not in scheduler:
            raise InputError(f"scheduler must be local or an address such as tcp://host:8786, got {scheduler!r}")
        try:
            client = stack.enter_context(dask.Client(address, timeout=CONNECT_SECONDS, set_as_default=False))
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except (OSError, ValueError, TimeoutError) as error:
            raise InputError(f"scheduler {scheduler!r} must be a Dask scheduler with workers: {error}") from None
        executor = client.get_executor(pure=False)
        # `relay` has waited for what it wants to have. To wait here for the rest might never end: workers may be gone.
        stack.callback(executor.shutdown, wait=False)
        executor.rising_workers = max(1, sum(client.nthreads().values()))
        yield executor
