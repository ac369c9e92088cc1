"""What all calls of a study share: its log, what it is about, and its decisions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from rising_bandits.errors import InputError
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Label, Problem
from rising_bandits.studies.log.entries import Entry
from rising_bandits.studies.log.events import check_author
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.log import Log
from rising_bandits.studies.reports.explanation import Explanation
from rising_bandits.studies.scales import Scale
from rising_bandits.studies.settings import Settings

if TYPE_CHECKING:
    from rising_bandits.studies.study import Study


@dataclass(frozen=True)
class Decision:
    """A super arm to play, and the id under which its outcomes are told. `Study.ask` makes it."""

    id: int
    """The number of the decision within its study, from 1."""
    super_arm: list[Label]
    """Labels of the arms, in the order in which they are used."""
    asked_at: float
    """When it was asked for, in seconds since 1970."""
    expires_at: float | None
    """When it expires, in seconds since 1970; None if it never does. An expired decision cannot be told."""
    study: Study = field(repr=False, compare=False)
    """The study that made it."""
    source: str = field(default="study", compare=False)
    """Who decided: ``"study"`` for the study's policy, or the name of a rule or source of the user's."""
    metadata: dict[str, Any] = field(default_factory=dict, compare=False)
    """What the caller said about it."""

    def __hash__(self) -> int:
        return hash((self.id, self.asked_at))

    def explain(self) -> Explanation:
        """Explain why this super arm was chosen, from what was known when it was asked for.

        Returns
        -------
        Explanation
            The parts of the arms' indices, and the super arm that came second.
        """
        return self.study.explain(self.id)


class Calls:
    """Base of the calls of a study. `rising_bandits.studies.Study` has all of them."""

    def __init__(self, log: Log) -> None:
        self._log = log
        with log.look():
            pass

    @property
    def name(self) -> str:
        """The name of the study in its storage."""
        return self._log.name

    @property
    def author(self) -> str | None:
        """Who changes the study, a text of up to 500 characters, or None.

        Changes from now on are stored with this name. `Study.events` and the page of the service show it. Asks and
        tells have no author. A service with tokens puts the name of the token before what is said here.

        >>> import tempfile, rising_bandits as rb
        >>> folder = tempfile.TemporaryDirectory()
        >>> storage = f"sqlite:///{folder.name}/team.db"
        >>> study = rb.studies.create("team", rb.problems.TopK(["ann", "bob"], k=1), storage=storage)
        >>> study.author = "eve"
        >>> study.retire(["bob"])
        >>> [(event.kind, event.author) for event in study.events()]
        [('problem', None), ('retire', 'eve')]
        >>> study.close(); folder.cleanup()
        """
        return self._log.author

    @author.setter
    def author(self, author: str | None) -> None:
        check_author(author)
        self._log.author = author

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        with self._log.look() as (fold, _):
            return fold.settings

    @property
    def scale(self) -> Scale:
        """How outcomes become values in [0, 1]."""
        return self.settings.scale

    @property
    def problem(self) -> Problem:
        """The current problem."""
        with self._log.look() as (fold, _):
            return fold.arms.problem

    @property
    def decisions(self) -> int:
        """How many decisions were made so far."""
        with self._log.look() as (fold, _):
            return fold.decisions

    @property
    def policy(self) -> Policy:
        """A copy of the current policy. Changing the copy does not change the study."""
        with self._log.look() as (fold, _):
            policy = fold.live.policy.copy()
            policy.rng = fold.settings.rng(fold.decisions + 1)
            return policy

    def keys(self) -> dict[Label, int]:
        """Return the key of every arm of the problem, by label. A key never changes, even if the problem does."""
        with self._log.look() as (fold, _):
            return dict(zip(fold.arms.problem.labels, fold.arms.keys, strict=True))

    def _id(self, decision: int | Decision) -> int:
        """The id of a decision; refuses a decision of another study."""
        if not isinstance(decision, Decision):
            return decision
        there, here = decision.study._log, self._log
        if (there.storage.url, there.number) != (here.storage.url, here.number):
            raise InputError(f"decision must be one of study {self.name!r}, got one of {decision.study.name!r}")
        return decision.id

    def _decision(self, fold: Fold, entry: Entry) -> Decision:
        """The public form of an entry."""
        expires = fold.settings.expires
        until = None if expires is None else entry.asked_at + expires
        labels = list(map(fold.labels.__getitem__, entry.arms))
        source, metadata = entry.by or "study", dict(entry.meta or {})
        return Decision(entry.decision, labels, entry.asked_at, until, cast("Study", self), source, metadata)
