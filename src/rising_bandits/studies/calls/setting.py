"""Calls that change the settings of a study. Each is an event with its place in the order of the log."""

from __future__ import annotations

import logging
import warnings
from datetime import timedelta
from typing import Any, cast

from rising_bandits import _checks
from rising_bandits.errors import InputError
from rising_bandits.policies.policy import MOST_ROUNDS, Policy
from rising_bandits.problems.base import Label
from rising_bandits.studies.calls.base import Calls
from rising_bandits.studies.log.log import Turn
from rising_bandits.studies.scales import Scale, check_kept

_LOGGER = logging.getLogger("rising_bandits.studies")


class Setting(Calls):
    """Change the settings of a study."""

    def set_policy(self, policy: Policy) -> None:
        """Let another policy decide from now on. It learns the whole log first, so nothing that was told is lost.

        The log is read once, in this call.

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

        The log is read once, in this call.

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
        self._set({"scale": scale.spec()})

    def set_horizon(self, horizon: int | None) -> None:
        """Set how many rounds there will be. The policy learns the whole log again with this horizon.

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
        with self._log.turn() as turn:
            now = turn.fold.live.policy.round
            if horizon is not None and horizon < now:
                raise InputError(f"horizon must be at least the present round, {now}, or None, got {horizon}")
            turn.add("set", {"horizon": horizon})
        _LOGGER.info("study %r: horizon set to %s", self.name, horizon)

    def set_expiry(self, expires: timedelta | float | None) -> None:
        """Set how long a decision can be told. It holds for open decisions too.

        Parameters
        ----------
        expires
            The time after the ask, in seconds or as a `timedelta`; None for ever.
        """
        self._set({"expires": expires.total_seconds() if isinstance(expires, timedelta) else expires})

    def _set(self, body: dict[str, Any], kind: type[Policy] | None = None) -> None:
        """Add an event that changes settings."""
        with self._log.turn() as turn:
            turn.fold.settings.changed(body)
            if kind is not None:
                self._log.hand_in_class(kind)
            turn.add("set", body)
        _LOGGER.info("study %r: set %s", self.name, ", ".join(f"{name} to {part!r}" for name, part in body.items()))

    def clipped(self) -> dict[Label, int]:
        """Count the outcomes that the scale has clipped, because they are outside its domain.

        Returns
        -------
        dict
            The number of clipped outcomes by label. Arms without any are left out.
        """
        with self._log.look() as (fold, _):
            return {fold.labels[key]: count for key, count in sorted(fold.clipped.items()) if count}

    def _horizon_passes(self, turn: Turn) -> bool:
        """Whether the horizon has passed since the last ask. If so, an event is added that lets the study go on."""
        settings = turn.fold.settings
        horizon = settings.horizon
        if horizon is None or settings.passed == horizon or turn.fold.live.policy.round <= horizon:
            return False
        without: dict[str, Any] = {"horizon": None}
        try:
            self._log.kind(settings.policy)(**settings.parameters).start(turn.fold.arms.problem, None, 0)
        except InputError:
            # A window that follows from the horizon: the policy keeps it.
            without = {}
        turn.add("set", {**without, "passed": horizon})
        return True

    def _warn_of_horizon(self) -> None:
        """Say that the horizon has passed. Only the call that notices it says so."""
        text = (
            f"the horizon of study {self.name!r} has passed: it goes on as a study without a horizon; "
            "to plan for more rounds, call set_horizon"
        )
        _LOGGER.warning(text)
        warnings.warn(text, stacklevel=3)
