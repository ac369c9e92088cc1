"""Calls that change the settings of a study. Each is an event with its place in the order of the log."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping
from dataclasses import astuple
from datetime import timedelta
from typing import Any, cast

import numpy as np

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.policies.policy import MOST_ROUNDS, Policy
from rising_bandits.problems.base import Label
from rising_bandits.studies.calls.base import Calls
from rising_bandits.studies.log.events import MOST_PRIOR
from rising_bandits.studies.log.fold import RELEARNT, Fold
from rising_bandits.studies.log.least import check_least
from rising_bandits.studies.log.log import Turn
from rising_bandits.studies.log.noticed import change_of
from rising_bandits.studies.scales import Scale, check_kept

_LOGGER = logging.getLogger("rising_bandits.studies")


PRIOR_PLAYS = 50
"""How many plays a prior is worth if nothing is said."""


def prior_body(fold: Fold, prior: Mapping[Label, Any]) -> dict[str, Any]:
    """The body of a prior event, checked."""
    if not isinstance(cast(object, prior), Mapping):
        raise InputError(f"prior must be a mapping of labels to outcomes, as in {{'a->b': 12.0}}, got {prior!r}")
    body: dict[str, Any] = {"arms": [], "raw": [], "value": [], "plays": []}
    for label, belief in prior.items():
        pair = belief if isinstance(belief, tuple | list) else (belief, PRIOR_PLAYS)
        if len(pair) != 2:
            raise InputError(f"the prior of {label!r} must be an outcome, or (outcome, plays), got {belief!r}")
        key = fold.arms.keys[fold.arms.problem.index(label)]
        if key in body["arms"]:
            raise InputError(f"prior must name each arm once, got {label!r} twice")
        raw, value = fold.settings.scale.value(pair[0], f"prior of {label!r}")
        body["arms"].append(key)
        body["raw"].append(raw)
        body["value"].append(value)
        body["plays"].append(_checks.integer(f"the plays of the prior of {label!r}", pair[1], low=1, high=MOST_PRIOR))
    return body


def least_body(fold: Fold, least: Mapping[Label, float]) -> dict[str, Any]:
    """The body of an event that sets least shares, checked."""
    if not isinstance(cast(object, least), Mapping):
        raise InputError(f"least must be a mapping of labels to shares, as in {{'a->b': 0.05}}, got {least!r}")
    shares = {
        label: _checks.number(f"the least share of {label!r}", least[label], low=0.0, high=1.0, open_low=True)
        for label in least
    }
    check_least(shares)
    keys = {fold.arms.keys[fold.arms.problem.index(label)]: share for label, share in shares.items()}
    if len(keys) < len(least):
        raise InputError(f"least must name each arm once, got {list(least)!r}")
    return {"least": [[key, share] for key, share in keys.items()]}


def check_forgets(fold: Fold) -> None:
    """Refuse a policy that cannot forget an arm."""
    problem = fold.arms.problem
    fold.live.policy.rebase(problem, range(problem.n_arms))


class Setting(Calls):
    """Change the settings of a study."""

    def set_policy(self, policy: Policy) -> None:
        """Let another policy decide from now on. It learns the whole log first, so nothing that was told is lost.

        The log is read once, in this call. Others can write meanwhile.

        Parameters
        ----------
        policy
            The new policy. Only its class and its parameters are used.

        Raises
        ------
        InputError
            The policy cannot decide about the problem, or cannot learn from this log: policies on super arms cannot
            learn plays that were imported. Nothing was changed.
        """
        if not isinstance(cast(object, policy), Policy):
            raise InputError(f"policy must be a Policy such as HorizonCRUCB(), got {policy!r}")
        self._set({"policy": type(policy).__name__, "parameters": policy.parameters()}, type(policy))

    def set_scale(self, scale: Scale) -> None:
        """Use another scale from now on. All values are computed again from the outcomes, those told before included.

        The log is read once, in this call. Others can write meanwhile.

        Parameters
        ----------
        scale
            The new scale.

        Raises
        ------
        InputError
            An outcome in the log is outside the domain of the scale, and the scale does not clip. Nothing was changed.
        """
        if not isinstance(cast(object, scale), Scale):
            raise InputError(f"scale must be a Scale such as Range(0, 200, lower_is_better=True), got {scale!r}")
        check_kept(scale)
        before = self.scale.lower_is_better
        self._set({"scale": scale.spec()})
        if scale.lower_is_better != before:
            which = "lower" if scale.lower_is_better else "higher"
            _LOGGER.warning(
                "study %r: %s outcomes count as better from now on, the opposite of before", self.name, which
            )

    def set_horizon(self, horizon: int | None) -> None:
        """Set how many rounds there will be. The policy learns the whole log again with this horizon.

        The log is read once, in this call. Others can write meanwhile.

        Parameters
        ----------
        horizon
            The number of rounds from the first one on, at least the present round; None if nobody knows.

        Raises
        ------
        InputError
            The horizon has passed already, or the policy needs a longer one, or cannot do without one. Nothing was
            changed.
        """
        if horizon is not None:
            horizon = _checks.integer("horizon", horizon, low=1, limit=MOST_ROUNDS)

        def check(fold: Fold) -> None:
            now = fold.live.policy.round
            if horizon is not None and horizon < now:
                raise InputError(f"horizon must be at least the present round, {now}, or None, got {horizon}")

        self._set({"horizon": horizon}, check=check)

    def set_expiry(self, expires: timedelta | float | None) -> None:
        """Set how long a decision can be told. It holds for open decisions too.

        Parameters
        ----------
        expires
            The time after the ask, in seconds or as a `timedelta`; None for ever.
        """
        self._set({"expires": expires.total_seconds() if isinstance(expires, timedelta) else expires})

    def _set(
        self, body: dict[str, Any], kind: type[Policy] | None = None, check: Callable[[Fold], None] | None = None
    ) -> None:
        """Add an event that changes settings. ``check`` raises if the study is in no state for them."""
        if check is not None:
            with self._log.look() as (fold, _):
                check(fold)
        if not RELEARNT.isdisjoint(body):
            self._log.learn_ahead(body, kind)
        with self._log.turn() as turn:
            turn.fold.settings.changed(body)
            if check is not None:
                check(turn.fold)
            turn.change("set", body)
        _LOGGER.info("study %r: set %s", self.name, ", ".join(f"{name} to {part!r}" for name, part in body.items()))

    def set_spread(self, spread: bool) -> None:
        """Set whether decisions that are open at the same time should differ.

        Parameters
        ----------
        spread
            True decides as if the open decisions had come back as expected: with the recent average of each arm. So
            arms that are in use already are less attractive. False, the default, ignores open decisions once all arms
            have had their first plays.
        """
        self._set({"spread": spread})

    def set_falls(self, falls: str) -> None:
        """Set what happens when the study notices that an arm has fallen. It tests its arms while it learns.

        Rising and flat arms are not taken for fallen ones, however noisy they are: the chance of one false alarm, over
        all arms and all time, is at most one in a thousand. See `rising_bandits.theory.falls`.

        Parameters
        ----------
        falls
            ``"propose"``, the default: the fall is logged (module `logging`) and listed by `Study.fallen`.
            ``"reset"``: the next ask also resets the arm, so that it is tried anew. The reset is an event of the log.
            ``"ignore"``: it is only listed.

        Raises
        ------
        InputError
            ``falls`` is none of these, or the policy cannot forget an arm.
        """
        with self._log.turn() as turn:
            turn.fold.settings.changed({"falls": falls})
            if falls == "reset":
                check_forgets(turn.fold)
            turn.change("set", {"falls": falls})
        _LOGGER.info("study %r: falls set to %r", self.name, falls)

    def _falls_reset(self, turn: Turn) -> bool:
        """Whether arms have fallen and are to be reset for that. If so, the event is added."""
        fold = turn.fold
        if fold.settings.falls != "reset" or not fold.watch.fallen:
            return False
        found = {key: fall for key, fall in fold.watch.fallen.items() if key in fold.arms.arm_of}
        try:
            check_forgets(fold)
        except InputError:
            # The policy was set after the setting.
            return False
        if found:
            turn.add("reset", {"arms": list(found), "fell": [list(astuple(fall)[:5]) for fall in found.values()]})
        return bool(found)

    def _say_reset(self, turn: Turn) -> None:
        """Log that arms were reset."""
        for at, key, found in turn.fold.watch.resets[-len(turn.events[0].body["arms"]) :]:
            _LOGGER.warning("study %r: %s", self.name, change_of(turn.fold, key, found, at))

    def set_least(self, least: Mapping[Label, float]) -> None:
        """Set the least shares of arms that must stay in use, for fairness or for fresh data.

        An arm with the least share 0.05 is used in at least one of any 20 decisions of the study that follow each
        other, as long as it is available. `explain` says which decisions were made for this reason.

        Parameters
        ----------
        least
            The least share by label, above 0. It replaces all least shares that were set before.

        Raises
        ------
        InputError
            A label is unknown, or the shares cannot be held together with one of these arms in each decision.
        """
        with self._log.turn() as turn:
            turn.change("set", least_body(turn.fold, least))
        _LOGGER.info("study %r: least shares set to %r", self.name, dict(least))

    def add_prior(self, prior: Mapping[Label, float | tuple[float, int]]) -> None:
        """Say what you believe about arms, in your unit, so that the study need not find out everything by itself.

        A belief counts as so many equal plays of its arm, which is then not tried first. It is forgotten by `reset`.

        Parameters
        ----------
        prior
            By label: the outcome that you expect, which counts as 50 plays; or a pair of the outcome and the number of
            plays that it is worth, at least 1.

        Raises
        ------
        InputError
            A label or an outcome is wrong, or the policy acts on super arms and cannot learn about single arms.
        """
        with self._log.turn() as turn:
            turn.fold.live.policy.copy().absorb(0, np.zeros(0))
            turn.change("prior", prior_body(turn.fold, prior))
        _LOGGER.info("study %r: a prior for %d arms", self.name, len(prior))

    def clipped(self) -> dict[Label, int]:
        """Count the outcomes that the scale has clipped, because they are outside its domain.

        Returns
        -------
        dict
            The number of clipped outcomes by label. Arms without any are left out.
        """
        with self._log.look() as (fold, _):
            return {fold.labels[key]: count for key, count in sorted(fold.clipped.items()) if count}

    def _passing(self, fold: Fold) -> dict[str, Any] | None:
        """The settings with which the study goes on if its horizon has passed since the last ask, else None."""
        settings = fold.settings
        horizon = settings.horizon
        if horizon is None or settings.passed == horizon or fold.live.policy.round <= horizon:
            return None
        without: dict[str, Any] = {"horizon": None}
        try:
            self._log.code.kind(settings.policy)(**settings.parameters).start(fold.arms.problem, None, 0)
        except InputError:
            # A window that follows from the horizon: the policy keeps it.
            without = {}
        return {**without, "passed": horizon}

    def _warn_of_horizon(self) -> None:
        """Say that the horizon has passed. Only the call that notices it says so."""
        text = (
            f"the horizon of study {self.name!r} has passed: it goes on as a study without a horizon; "
            "to plan for more rounds, call set_horizon"
        )
        _LOGGER.warning(text)
        warnings.warn(text, stacklevel=3)
