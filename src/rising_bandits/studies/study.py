"""A study: ask for decisions, tell their outcomes, stop and continue at any moment."""

from __future__ import annotations

from contextlib import AbstractContextManager

from rising_bandits.studies.calls.asking import Asking
from rising_bandits.studies.calls.base import Decision
from rising_bandits.studies.calls.changing import Changing
from rising_bandits.studies.calls.reporting import Reporting
from rising_bandits.studies.calls.telling import Telling

__all__ = ["Decision", "Study"]


class Study(Asking, Telling, Changing, Reporting):
    """A policy that decides for a running system. Everything it was told is stored in a database.

    Make one with `rising_bandits.studies.create`, `open` or `load`. Several processes may use the same study at the
    same time. Each call is one transaction and sees all calls before it. A call that returns has stored its effect. A
    call that raises has changed nothing.

    Parameters
    ----------
    log
        The log of the study; `create`, `open` and `load` pass it.
    """

    def group(self) -> AbstractContextManager[None]:
        """Make several calls in one transaction, which is much faster than one transaction for each.

        Returns
        -------
        context manager
            Calls in its block see each other's effects. A call that raises changes nothing; the others count. What the
            calls return is stored when the block ends, not before. If the block raises, none of its calls counts.

        Raises
        ------
        InputError
            It is inside another group of the same study.
        StorageError
            The database cannot be written. None of the calls counts.

        >>> import tempfile, rising_bandits as rb
        >>> folder = tempfile.TemporaryDirectory()
        >>> storage = f"sqlite:///{folder.name}/team.db"
        >>> study = rb.studies.create("team", rb.problems.TopK(["ann", "bob"], k=1), storage=storage)
        >>> with study.group():
        ...     for _ in range(3):
        ...         decision = study.ask()
        ...         study.tell(decision, {decision.super_arm[0]: 0.5})
        True
        True
        True
        >>> len(study.history())
        3
        >>> study.close(); folder.cleanup()
        """
        return self._log.group()

    def close(self) -> None:
        """Close the connection to the database. The next call opens a new one."""
        self._log.storage.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        with self._log.look() as (fold, _):
            known = f"{fold.decisions} decisions, round {fold.live.policy.round}"
            return f"Study({self.name!r}, {fold.live.policy!r}, {known}, {fold.arms.problem!r})"
