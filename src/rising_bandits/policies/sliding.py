"""The sliding-window baselines: UCB and Thompson sampling, on super arms and on base arms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rising_bandits.errors import InputError
from rising_bandits.policies.levels import BaseArmPolicy, SuperArmPolicy
from rising_bandits.policies.parameters import checked_window
from rising_bandits.policies.rules.window import WindowTS, WindowUCB, make_window_ts, make_window_ucb
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class _Sliding:
    """The parameter of sliding-window policies.

    Parameters
    ----------
    window
        The window in plays. A float in (0, 1) is a share of the plays so far. None is the square root of the horizon,
        rounded down.
    """

    window: int | float | None = None

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{"window": 20}, {"window": 0.25}]

    def __post_init__(self) -> None:
        if self.window is not None:
            self.window = checked_window(self.window)

    def _window(self, horizon: int | None) -> int | float:
        """The window for a horizon."""
        if self.window is not None:
            return self.window
        if horizon is None:
            raise InputError(
                f"window must be given when the horizon is unknown, as in {type(self).__name__}(window=500); "
                "with a horizon T it is floor(sqrt(T))"
            )
        return math.isqrt(horizon)


class SWUCB(_Sliding, SuperArmPolicy):
    r"""Sliding-window UCB on super arms (Garivier and Moulines, ALT 2011), as the paper runs it.

    The index is :math:`\frac1h \sum X + \sqrt{3 \log t / (2N)}` over the scaled rewards of the last
    :math:`h = \min(N, \text{window})` plays.

    Parameters
    ----------
    window
        The window in plays. A float in (0, 1) is a share of the plays so far. None is the square root of the horizon,
        rounded down.

    >>> SWUCB(window=100)
    SWUCB(window=100)
    """

    name = "sw-ucb"
    title = "SW-UCB"
    colour = "#0072B2"

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> WindowUCB:
        return make_window_ucb(n_units, self._window(horizon))


class SWCUCB(_Sliding, BaseArmPolicy):
    r"""Sliding-window combinatorial UCB (Chen et al., 2021).

    It computes the index of `SWUCB` for base arms, and the oracle chooses the super arm.

    Parameters
    ----------
    window
        The window in plays. A float in (0, 1) is a share of the plays so far. None is the square root of the horizon,
        rounded down.

    >>> import rising_bandits as rb
    >>> policy = SWCUCB(window=10)
    >>> policy.start(rb.problems.TopK(3, k=1), rng=0)
    >>> policy.indices().tolist()
    [inf, inf, inf]
    """

    name = "sw-cucb"
    title = "SW-CUCB"
    colour = "#0072B2"

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> WindowUCB:
        return make_window_ucb(n_units, self._window(horizon))


class SWTS(_Sliding, SuperArmPolicy):
    r"""Sliding-window Thompson sampling on super arms (Trovò et al., JAIR 2020).

    The index is a sample :math:`\theta \sim \mathrm{Beta}(1 + \sum x, 1 + h - \sum x)` over the scaled rewards of the
    last :math:`h = \min(N, \text{window})` plays.

    Parameters
    ----------
    window
        The window in plays. A float in (0, 1) is a share of the plays so far. None is the square root of the horizon,
        rounded down.

    >>> SWTS().window is None
    True
    """

    name = "sw-ts"
    title = "SW-TS"
    colour = "#009E73"

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> WindowTS:
        return make_window_ts(n_units, self._window(horizon))


class SWCTS(_Sliding, BaseArmPolicy):
    r"""Sliding-window combinatorial Thompson sampling.

    It draws the samples of `SWTS` for base arms, and the oracle chooses the super arm.

    Parameters
    ----------
    window
        The window in plays. A float in (0, 1) is a share of the plays so far. None is the square root of the horizon,
        rounded down.

    >>> SWCTS(window=50)
    SWCTS(window=50)
    """

    name = "sw-cts"
    title = "SW-CTS"
    colour = "#009E73"

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> WindowTS:
        return make_window_ts(n_units, self._window(horizon))
