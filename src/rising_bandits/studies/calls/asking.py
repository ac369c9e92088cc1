"""Calls that ask a study for decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, overload

from rising_bandits import _checks
from rising_bandits._checks import Ints
from rising_bandits.errors import InputError
from rising_bandits.problems.base import Label, choice_name
from rising_bandits.studies.calls.base import Decision
from rising_bandits.studies.calls.handing import Handing
from rising_bandits.studies.log.deciding import Decider
from rising_bandits.studies.log.events import check_key, check_metadata, check_source
from rising_bandits.studies.log.fold import RELEARNT
from rising_bandits.studies.log.log import Turn, asked, study_time
from rising_bandits.studies.log.telling import tell_body

MOST_AT_ONCE = 10_000
"""The most decisions of one `Study.ask`. Other processes wait until all of them are made."""


class Asking(Handing):
    """Ask for decisions."""

    def open_decisions(self) -> list[Decision]:
        """List the decisions that can still be told, among the newest ``reorder`` ones.

        Returns
        -------
        list of Decision
            The open decisions, oldest first. `unlisted` counts the older ones.
        """
        with self._log.look() as (fold, reader):
            entries = [entry for entry in fold.waiting.values() if not entry.closed]
            late, now = fold.settings.late, study_time(fold, reader)
            return [self._decision(fold, entry) for entry in entries if late(entry.asked_at, now) is None]

    @property
    def unlisted(self) -> int:
        """How many decisions before the newest ``reorder`` ones have no final tell; some of them may have expired."""
        with self._log.look() as (fold, _):
            return fold.unlisted

    @overload
    def ask(
        self,
        n: None = None,
        *,
        unavailable: Iterable[Label] = (),
        among: str | tuple[Any, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Decision: ...
    @overload
    def ask(
        self,
        n: int,
        *,
        unavailable: Iterable[Label] = (),
        among: str | tuple[Any, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> list[Decision]: ...
    def ask(
        self,
        n: int | None = None,
        *,
        unavailable: Iterable[Label] = (),
        among: str | tuple[Any, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Decision | list[Decision]:
        """Ask for a decision, or for several decisions at once.

        Parameters
        ----------
        n
            How many decisions to make; None for a single one.
        unavailable
            What may not be used this time, for example because a link is down now: labels of arms, or names of workers,
            jobs or nodes, which stand for all of their arms.
        among
            For a problem with several families of super arms, such as `Routes`: the one to choose from, as in
            ``("a", "d")`` for the paths from a to d. None for all families.
        metadata
            What you want to find again beside the decision, such as ``{"flow": "video"}``: plain data that JSON can
            hold. It is stored, and shown in the history. It has no influence on the decision.
        key
            A text of 1 to 200 characters that names this call. An ask with the key of an earlier ask makes no new
            decision but returns the earlier one, so a caller who got no answer can ask again. The newest 10 000 keys
            are remembered.

        Returns
        -------
        Decision or list of Decision
            One decision if ``n`` is None, else a list of ``n`` decisions. All of them may be open at the same time.

        Raises
        ------
        InfeasibleError
            No super arm is left without the unavailable and the retired arms.
        InputError
            An argument is wrong, or an earlier ask with this key made another number of decisions.
        """
        check_key(key)
        wanted = f"a number of decisions, from 1 to {MOST_AT_ONCE}"
        count = 1 if n is None else _checks.integer("n", n, low=1, high=MOST_AT_ONCE, wanted=wanted)
        names = _checks.labels("unavailable", unavailable)
        said: dict[str, Any] = {} if key is None else {"key": key}
        if metadata:
            said["meta"] = check_metadata(metadata)
        if among is not None:
            said["among"] = choice_name(among)
        learnt: dict[str, Any] | None = None
        while True:
            with self._log.turn() as turn:
                passing = self._passing(turn.fold)
                if passing is not None and (passing == learnt or RELEARNT.isdisjoint(passing)):
                    turn.add("set", passing)
                elif passing is None and not self._falls_reset(turn):
                    if key is not None and (earlier := turn.fold.keys.get(key)) is not None:
                        return self._asked_before(turn, key, earlier, n)
                    self._decide(turn, count, names, said)
                    break
            if not turn.events:
                # Before the study is locked for it: others can write meanwhile.
                assert passing is not None
                self._log.learn_ahead(passing)
                learnt = passing
            elif turn.events[0].kind == "set":
                self._warn_of_horizon()
            else:
                self._say_reset(turn)
        waiting = turn.fold.waiting
        decisions = [
            self._decision(turn.fold, waiting.get(event.decision or 0) or asked(event)) for event in turn.events
        ]
        return decisions[0] if n is None else decisions

    def _decide(self, turn: Turn, count: int, unavailable: list[Label], said: dict[str, Any]) -> None:
        """Add the events of some decisions; ``said`` is added to the body of each."""
        fold = turn.fold
        blocked = self._log.keys(fold, unavailable) if unavailable else []
        decider = Decider(fold, fold.settings, turn.now, blocked, said.get("among"))
        among = said.get("among")
        offered = [
            name for name, share in fold.settings.shares if share > 0.0 and self._decides(fold, name, blocked, among)
        ]
        made: list[Ints] = []
        for number in range(fold.decisions + 1, fold.decisions + 1 + count):
            drawn = fold.settings.draw(number, offered) if offered else None
            forced = None
            arms = None if drawn is None else self._by_rule(turn, drawn, number, blocked, among, made)
            if arms is None:
                offered, drawn = [name for name in offered if name != drawn], None
                arms, forced = decider.choose(number)
            decider.take(arms, own=drawn is None)
            made.append(arms)
            body: dict[str, Any] = {"arms": fold.arms.in_order(arms)}
            if blocked:
                body["off"] = blocked
            if offered:
                body["offered"] = offered
            if forced is not None:
                body["least"] = fold.arms.keys[forced]
            if drawn is not None:
                body["by"] = drawn
            body.update(said)
            turn.add("ask", body, number)

    def record(
        self,
        super_arm: Iterable[Label],
        outcomes: Mapping[Label, float],
        *,
        source: str,
        metadata: Mapping[str, Any] | None = None,
    ) -> Decision:
        """Learn from a decision that was made elsewhere, for example by the rule that decides today.

        Parameters
        ----------
        super_arm
            The labels of a feasible super arm.
        outcomes
            Outcomes by label, in the user's unit. Arms that are left out count as not played.
        source
            The name of who decided, for `compare` and the history.
        metadata
            As in `ask`.

        Returns
        -------
        Decision
            The decision, which is told already.

        Raises
        ------
        InputError
            An argument is wrong. Nothing was changed.
        """
        check_source(source)
        labels = _checks.labels("super_arm", super_arm)
        said: dict[str, Any] = {"meta": check_metadata(metadata)} if metadata else {}
        with self._log.turn() as turn:
            fold = turn.fold
            arms = self._super_arm(fold.arms.problem, "super_arm must be", labels, fold.mask())
            event = turn.add("ask", {"arms": fold.arms.in_order(arms), "by": source, **said}, fold.decisions + 1)
            body = tell_body(fold, asked(event), outcomes, fold.settings.scale, final=True, late=None)
            assert body is not None
            turn.add("tell", body, event.decision)
        return self._decision(fold, asked(event))

    def _asked_before(self, turn: Turn, key: str, earlier: tuple[int, int], n: int | None) -> Decision | list[Decision]:
        """The decisions of an earlier ask with the same key."""
        first, count = earlier
        if count != (1 if n is None else n):
            raise InputError(f"n must be {count}, as in the earlier ask with the key {key!r}, got {n!r}")
        numbers = range(first, first + count)
        decisions = [self._decision(turn.fold, self._log.entry(turn.fold, turn.writer, number)) for number in numbers]
        return decisions[0] if n is None else decisions
