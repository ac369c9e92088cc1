"""Studies for asyncio: the same calls, awaited. The event loop goes on while the database works.

>>> import asyncio, tempfile, rising_bandits as rb
>>> async def day(storage):
...     problem = rb.problems.TopK(["ann", "bob"], k=1)
...     async with await rb.studies.aio.create("team", problem, storage=storage) as study:
...         decision = await study.ask()
...         return await study.tell(decision, {decision.super_arm[0]: 0.5})
>>> folder = tempfile.TemporaryDirectory()
>>> asyncio.run(day(f"sqlite:///{folder.name}/team.db"))
True
>>> folder.cleanup()
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any, ParamSpec, TypeVar, overload

from rising_bandits.problems.base import Label
from rising_bandits.studies import library
from rising_bandits.studies.calls.base import Decision
from rising_bandits.studies.reports.compare import Comparison
from rising_bandits.studies.reports.explanation import Explanation, Reason
from rising_bandits.studies.study import Study

P = ParamSpec("P")
R = TypeVar("R")


class AsyncStudy:
    """A study whose calls are awaited. Make one with `create`, `open` or `load` of this module.

    The calls run one after the other in a thread of their own. A call that is cancelled may still take effect: what
    was begun is finished.

    Parameters
    ----------
    study
        The study. Calls without a form here go through `run`.
    """

    def __init__(self, study: Study) -> None:
        self.study = study
        """The study itself. Its own calls block."""
        self._thread: ThreadPoolExecutor | None = None
        """The thread of the calls; None before the first one and after `close`."""

    async def run(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        r"""Await any call of the study, as in ``await study.run(study.study.set_expiry, 60)``.

        Parameters
        ----------
        call
            The call.
        \*args, \**kwargs
            Its arguments.

        Returns
        -------
        object
            What the call returns.
        """
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="study")
        return await asyncio.get_running_loop().run_in_executor(self._thread, functools.partial(call, *args, **kwargs))

    @overload
    async def ask(
        self,
        n: None = None,
        *,
        unavailable: Iterable[Label] = (),
        among: str | tuple[Any, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Decision: ...
    @overload
    async def ask(
        self,
        n: int,
        *,
        unavailable: Iterable[Label] = (),
        among: str | tuple[Any, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> list[Decision]: ...
    async def ask(
        self,
        n: int | None = None,
        *,
        unavailable: Iterable[Label] = (),
        among: str | tuple[Any, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Decision | list[Decision]:
        """Ask for decisions, as `Study.ask`."""

        def call() -> Decision | list[Decision]:
            if n is None:
                return self.study.ask(unavailable=unavailable, among=among, metadata=metadata, key=key)
            return self.study.ask(n, unavailable=unavailable, among=among, metadata=metadata, key=key)

        return await self.run(call)

    async def tell(self, decision: int | Decision, outcomes: Mapping[Label, float], *, final: bool = True) -> bool:
        """Tell the outcomes of a decision, as `Study.tell`."""
        return await self.run(self.study.tell, decision, outcomes, final=final)

    async def tell_many(
        self, reports: Iterable[tuple[int | Decision, Mapping[Label, float]]], *, final: bool = True
    ) -> list[bool]:
        """Tell the outcomes of several decisions, as `Study.tell_many`."""
        return await self.run(self.study.tell_many, reports, final=final)

    async def record(
        self,
        super_arm: Iterable[Label],
        outcomes: Mapping[Label, float],
        *,
        source: str,
        metadata: Mapping[str, Any] | None = None,
    ) -> Decision:
        """Learn from a decision that was made elsewhere, as `Study.record`."""
        return await self.run(self.study.record, super_arm, outcomes, source=source, metadata=metadata)

    async def explain(self, decision: int | Decision) -> Explanation:
        """Explain why a decision was made, as `Study.explain`."""
        return await self.run(self.study.explain, decision)

    async def arms(self, *, at: int | Decision | None = None) -> list[Reason]:
        """List what is known about every arm, as `Study.arms`."""
        return await self.run(self.study.arms, at=at)

    async def compare(self, source: str, *, level: float = 0.95) -> Comparison:
        """Compare the study with a rule or source, as `Study.compare`."""
        return await self.run(self.study.compare, source, level=level)

    async def history(self, *, last: int | None = None, since: datetime | timedelta | float | None = None) -> Any:
        """List outcomes in a table, as `Study.history`."""
        return await self.run(self.study.history, last=last, since=since)

    async def open_decisions(self) -> list[Decision]:
        """List the decisions that can still be told, as `Study.open_decisions`."""
        return await self.run(self.study.open_decisions)

    async def close(self) -> None:
        """Wait for the calls that were begun, then close the connection. The next call opens a new one."""
        await self.run(self.study.close)
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.shutdown(wait=False)

    async def __aenter__(self) -> AsyncStudy:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def create(*args: Any, **kwargs: Any) -> AsyncStudy:
    """Create a study, with the arguments of `rising_bandits.studies.create`."""
    return AsyncStudy(await asyncio.to_thread(library.create, *args, **kwargs))


async def open(*args: Any, **kwargs: Any) -> AsyncStudy:  # noqa: A001
    """Open an existing study, with the arguments of `rising_bandits.studies.open`."""
    return AsyncStudy(await asyncio.to_thread(library.open, *args, **kwargs))


async def load(*args: Any, **kwargs: Any) -> AsyncStudy:
    """Make a study from an exported file, with the arguments of `rising_bandits.studies.load`."""
    return AsyncStudy(await asyncio.to_thread(library.load, *args, **kwargs))
