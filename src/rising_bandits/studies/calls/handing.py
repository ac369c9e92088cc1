"""Calls that hand a share of the asks to another rule than the study's policy."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from rising_bandits import _checks, policies
from rising_bandits._checks import Bools, Ints
from rising_bandits.errors import InputError
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Label, Problem
from rising_bandits.studies.calls.setting import Setting
from rising_bandits.studies.log.events import check_source
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.log import Log, Turn
from rising_bandits.studies.log.rules import fixed_arms, in_its_place, rival_arms

_LOGGER = logging.getLogger("rising_bandits.studies")


RuleFunction = Callable[[Problem, Collection[Label]], Iterable[Label]]
"""A rule of the user's: a function that returns the labels of a super arm."""
Rule = Iterable[Label] | Policy | RuleFunction
"""A rule: the labels of a super arm, a policy of the library, or a function of the user's."""


class Handing(Setting):
    """Hand a share of the asks to another rule."""

    def __init__(self, log: Log) -> None:
        self._rules: dict[str, RuleFunction] = {}
        super().__init__(log)

    def hand_over(self, name: str, rule: Rule | None = None, share: float | None = None) -> None:
        """Hand a share of the asks to another rule, for example the one that decides today.

        Which asks it gets is drawn at random, with the seed of the study. `compare` then says which of the two earned
        more. The study learns from all decisions.

        A super arm and a policy of the library are stored with the share, so they hold for every process that asks. A
        policy learns from all decisions, as that of the study does. A function belongs to this `Study`, and only its
        share is stored: a process that asks without knowing it gets decisions of the policy, and these are not
        compared. A rule gets no asks while it cannot decide, for example because an arm of its super arm is retired.

        Parameters
        ----------
        name
            The name of the rule.
        rule
            The labels of a super arm; a policy of the library; or a function that is called with the problem and the
            set of labels that may not be used, and returns the labels of a super arm. It is called while the study is
            locked, so it should be quick. None keeps the rule of this name.
        share
            The share of asks from 0 to 1; None keeps the stored share.

        Raises
        ------
        InputError
            An argument is wrong, or no rule or no share is stored. Nothing was changed.

        >>> import tempfile, rising_bandits as rb
        >>> folder = tempfile.TemporaryDirectory()
        >>> storage = f"sqlite:///{folder.name}/team.db"
        >>> study = rb.studies.create("team", rb.problems.TopK(["ann", "bob"], k=1), storage=storage, seed=1)
        >>> study.hand_over("today", ["bob"], share=0.5)
        >>> again = rb.studies.open("team", storage=storage)
        >>> sorted({decision.source for decision in again.ask(20)})
        ['study', 'today']
        >>> study.close(); again.close(); folder.cleanup()
        """
        check_source(name)
        share = None if share is None else _checks.number("share", share, low=0.0, high=1.0)
        given: Any = rule
        own = callable(given) and not isinstance(given, Policy)
        if not own and not isinstance(given, Policy) and given is not None:
            given = _checks.labels("rule", given)
        self._hand_over(name, None if own else given, share, known=own or name in self._rules, own=own)
        if own:
            self._rules[name] = given
        elif given is not None:
            self._rules.pop(name, None)

    def _hand_over(self, name: str, rule: Any, share: float | None, *, known: bool, own: bool) -> None:
        """Store a rule and its share. ``known`` says whether this process has a function for it."""
        if isinstance(rule, Policy):
            # Before the study is locked for it: others can write while the log is read.
            with self._log.look() as (fold, reader):
                self._log.rival(in_its_place(fold.settings, self._stored_rule(fold, rule)), fold, reader)
        with self._log.turn() as turn:
            settings = turn.fold.settings
            shares, rules = dict(settings.shares), dict(settings.rules)
            if share is None and name not in shares:
                raise InputError(f"share must be given, as no share of the asks is stored for the rule {name!r}")
            if rule is not None:
                rules[name] = self._stored_rule(turn.fold, rule)
            elif own:
                rules.pop(name, None)
            elif name not in rules and not known:
                raise InputError(f"rule must be given, as no rule {name!r} is stored")
            if share is not None:
                shares.pop(name, None)
                shares[name] = share
            body: dict[str, Any] = {}
            if share is not None:
                body["shares"] = [[each, part] for each, part in shares.items()]
            if rules != dict(settings.rules):
                body["rules"] = [[each, part] for each, part in rules.items()]
            if body:
                settings.changed(body)
                turn.change("set", body)
        _LOGGER.info("study %r: the rule %r gets a share of %g of the asks", self.name, name, shares[name])

    def _stored_rule(self, fold: Fold, rule: Any) -> dict[str, Any]:
        """A super arm or a policy as the log stores it."""
        if not isinstance(rule, Policy):
            arms = self._super_arm(fold.arms.problem, "rule must be", rule, None)
            return {"arms": fold.arms.in_order(arms)}
        if type(rule) not in policies.classes().values():
            raise InputError(f"rule must be a policy of the library, a super arm or a function, got {rule!r}")
        parameters = rule.parameters()
        type(rule)(**parameters).start(fold.arms.problem, fold.settings.horizon, 0)
        return {"policy": type(rule).__name__, "parameters": parameters}

    def _decides(self, fold: Fold, name: str, blocked: list[int], among: str | None) -> bool:
        """Whether a rule can decide here and now, as far as this is known before it is drawn."""
        stored = dict(fold.settings.rules).get(name)
        if name in self._rules or stored is None:
            return name in self._rules
        return "arms" not in stored or fixed_arms(fold, stored["arms"], blocked, among) is not None

    def _by_rule(
        self, turn: Turn, name: str, number: int, blocked: list[int], among: str | None, made: list[Ints]
    ) -> Ints | None:
        """The super arm that a rule chooses. A function of the user's is checked like any input."""
        fold = turn.fold
        if name not in self._rules:
            stored = dict(fold.settings.rules)[name]
            if "arms" in stored:
                return fixed_arms(fold, stored["arms"], blocked, among)
            return rival_arms(self._log, name, turn, number, blocked=blocked, among=among, before=made)
        problem, rule = fold.arms.problem, self._rules[name]
        if among is not None:
            problem = problem.among(among)
        off = frozenset(fold.labels[key] for key in fold.retired.union(blocked) if key in fold.arms.arm_of)
        labels = rule(problem, off)
        arms = self._super_arm(problem, f"the rule {name!r} must return", labels, fold.mask(blocked))
        if not off.isdisjoint(problem.labels_of(arms)):
            raise InputError(f"the rule {name!r} must not use arms that are unavailable or retired, got {labels!r}")
        return arms

    def _super_arm(self, problem: Problem, wanted: str, labels: Any, mask: Bools | None) -> Ints:
        """The arms of a super arm that is given by labels, ascending. It may be one while some arms are blocked."""
        arms = np.sort(problem.arms_of(_checks.labels(f"{wanted} a super arm, which", labels)))
        whole = arms.size > 0 and len(set(arms.tolist())) == arms.size
        if not whole or not (problem.oracle.is_feasible(arms) or problem.oracle.is_allowed(arms, mask)):
            raise InputError(f"{wanted} the labels of a feasible super arm, got {labels!r}")
        return arms
