"""The paper's regret bounds as numbers: the upper bound (Theorem 3) and the lower bounds (Theorems 4 and 5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits.errors import InputError
from rising_bandits.problems.tasks import Task, check_task


def largest_increments(task: Task, plays: int) -> tuple[Floats, Floats]:
    r"""The distinct positive values of :math:`\max_i \gamma_i(l)` for :math:`l < M`, and how often each occurs.

    The increment of arm i after l plays is :math:`\gamma_i(l) = \mu_i(l+1) - \mu_i(l)`, and M is ``plays``.
    """
    check_task(task)
    plays = _checks.integer("plays", plays, low=1, limit=10**12)
    _checks.memory(f"the increments of {plays} plays", 3.0 * plays)
    largest = np.zeros(plays)
    for curve in dict.fromkeys(task.curves):
        increments = np.diff(curve.table(plays + 1))
        largest[: increments.size] = np.maximum(largest[: increments.size], increments)
    values, counts = np.unique(largest[largest > 0.0], return_counts=True)
    return values, counts.astype(np.float64)


def upsilon(task: Task, plays: int, q: float) -> float:
    r"""The cumulative increment :math:`\Upsilon(M, q) = \sum_{l<M} \max_i \gamma_i(l)^q` (Metelli et al., 2022).

    Plays at which no arm rises count as 0 for every q, even for q = 0.

    Parameters
    ----------
    task
        The task whose curves are used.
    plays
        The number of plays, M, at least 1.
    q
        The exponent, in [0, 1].

    >>> from rising_bandits.problems import tasks
    >>> round(upsilon(tasks.get("path-easy"), 10_000, 1.0), 4)
    0.9452
    """
    _checks.number("q", q, low=0.0, high=1.0)
    values, counts = largest_increments(task, plays)
    return float((counts * values**q).sum())


@dataclass(frozen=True)
class UpperBound:
    """The terms of the upper bound on the regret of CRUCB (Theorem 3). `upper_bound` computes them."""

    start: float
    """The cost of the first plays and of rounds with a wrong estimate, (2 + L pi^2 / 3) K."""
    growth: float
    """The cost of rising means, B K T^q / (1 - 2 epsilon) * upsilon((1 - 2 epsilon) L T / K, q)."""
    noise: float
    """The cost of noise, (3 K / epsilon) (2 B sigma T)^(2/3) (6 log 4T)^(1/3)."""
    q: float
    """The exponent q of the bound: the one that was given, or the one at which the bound is smallest."""
    trivial: float
    """The largest regret that any policy can have, L B T."""

    @property
    def total(self) -> float:
        """The bound: the sum of the three terms."""
        return self.start + self.growth + self.noise

    @property
    def useful(self) -> bool:
        """Whether the bound is smaller than the trivial bound."""
        return self.total < self.trivial


def upper_bound(
    task: Task,
    horizon: int | None = None,
    *,
    epsilon: float = 0.125,
    sigma: float | None = None,
    lipschitz: float = 1.0,
    constant: float | None = None,
    q: float | None = None,
) -> UpperBound:
    r"""The upper bound on the regret of CRUCB on a task (Theorem 3).

    .. math::

        \Big(2 + \tfrac{L\pi^2}{3}\Big)K + \frac{BKT^q}{1-2\varepsilon}
        \Upsilon\!\Big((1-2\varepsilon)\tfrac{LT}{K}, q\Big)
        + \frac{3K}{\varepsilon}(2B\sigma T)^{2/3}(6\log 4T)^{1/3}

    K is the number of base arms, L the size of the largest super arm and T the horizon. The theorem assumes means that
    rise and are concave, and a reward r with :math:`|r(S, \mu) - r(S, \mu')| \le B \sum_{i \in S} |\mu_i - \mu'_i|`.
    These assumptions are not checked.

    The bound holds for every q in [0, 1]. The middle term is a convex function of q, so its exact minimum is used.

    The last term belongs to a bonus with :math:`\sqrt{2 \log 4t^3}`, as in the paper's proof. The paper's algorithm has
    the larger bonus :math:`\sqrt{10 \log t^3} = \sqrt{30 \log t}`; use ``constant=30`` to get the term for it.

    Parameters
    ----------
    task
        The task.
    horizon
        The number of rounds, T. By default the horizon of the task.
    epsilon
        The window of CRUCB as a share of the plays, between 0 and 1/2.
    sigma
        The subgaussian constant of the noise. By default that of the task.
    lipschitz
        The Lipschitz constant of the reward, B. It is 1 for sums and for the maximum.
    constant
        The constant C of a bonus with :math:`\sqrt{C \log t}`. By default the term of the paper's proof is used.
    q
        The exponent, in [0, 1]. By default the one at which the bound is smallest.

    Returns
    -------
    UpperBound
        The terms of the bound.

    >>> from rising_bandits.problems import tasks
    >>> bound = upper_bound(tasks.get("path-easy"))
    >>> bound.useful, bound.total < upper_bound(tasks.get("path-easy"), constant=30.0).total
    (True, True)
    """
    check_task(task)
    horizon = _checks.integer("horizon", task.horizon if horizon is None else horizon, low=1, limit=10**12)
    epsilon = _checks.number("epsilon", epsilon, low=0.0, high=0.5, open_low=True, open_high=True)
    lipschitz = _checks.number("lipschitz", lipschitz, low=0.0, limit=1e9)
    sigma = _checks.number("sigma", task.sigma if sigma is None else sigma, low=0.0, limit=1e9)
    if q is not None:
        q = _checks.number("q", q, low=0.0, high=1.0)
    if constant is not None:
        constant = _checks.number("constant", constant, low=0.0, limit=1e9)
    arms, size = task.problem.n_arms, task.problem.oracle.max_size
    plays = max(1, math.ceil((1.0 - 2.0 * epsilon) * size * horizon / arms))
    values, counts = largest_increments(task, plays)
    logarithm = 6.0 * math.log(4.0 * horizon) if constant is None else constant * math.log(horizon)

    def growth(exponent: float) -> float:
        total = float((counts * (horizon * values) ** exponent).sum())
        return lipschitz * arms / (1.0 - 2.0 * epsilon) * total

    if q is None:
        q = _minimise(growth) if values.size else 1.0
    return UpperBound(
        start=(2.0 + size * math.pi**2 / 3.0) * arms,
        growth=growth(q),
        noise=3.0 * arms / epsilon * (2.0 * lipschitz * sigma * horizon) ** (2 / 3) * logarithm ** (1 / 3),
        q=q,
        trivial=size * lipschitz * horizon,
    )


def _minimise(function: Callable[[float], float]) -> float:
    """The point in [0, 1] at which a convex function is smallest."""
    from scipy.optimize import minimize_scalar

    found = float(minimize_scalar(function, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-6}).x)
    # The bounded method never returns the ends of the interval, so they are tried as well.
    return min((0.0, found, 1.0), key=function)


def lower_bound(horizon: int, size: int = 1, c: float | None = None) -> float:
    r"""A lower bound on the regret: for every policy there is an instance on which its regret is at least this large.

    Without ``c`` the bound is over all rising instances (Theorem 4): L T / 18. From T = 7 on, the instances
    `rising_bandits.theory.instances.general` force this regret on every policy, also on randomised ones, and for large
    T hardly more. For smaller T, a flat arm at 1/2 beside one that is always 0 or always 1 forces it. The paper's
    constant, L T / 16, holds for deterministic policies only.

    With ``c`` the bound is over instances with slopes of at most :math:`(n+1)^{-c}` (Theorem 5). It is computed exactly
    for the instances `rising_bandits.theory.instances.fine_grained` and grows like :math:`T^{2-c}`. The theorem's other
    term, :math:`L\sqrt{T}`, is due to noise and is not included.

    For L > 1 an instance consists of L independent copies, and each copy may be A or B. The page on lower bounds in the
    documentation has the argument.

    Parameters
    ----------
    horizon
        The number of rounds, T.
    size
        The size of a super arm, L.
    c
        The exponent of the slopes, between 1 and 2, or None for all rising instances.

    >>> lower_bound(1800, size=2)
    200.0
    >>> round(lower_bound(100_000, c=1.2) / lower_bound(10_000, c=1.2), 1)
    5.9
    """
    _checks.integer("horizon", horizon, low=1, limit=10**12)
    _checks.integer("size", size, low=1, limit=10**6)
    if c is None:
        return size * horizon / 18.0
    from rising_bandits.theory.instances import fine_grained_level

    return size * fine_grained_level(horizon, c).bound


def upper_rate(c: float) -> float:
    r"""The exponent of T in the upper bound for slopes of at most :math:`(n+1)^{-c}` (Corollary 2).

    It is 1 for :math:`c \le 1` and :math:`\max(2/3, 1/c)` for larger c. Logarithmic factors are left out.

    Parameters
    ----------
    c
        The exponent of the slopes, above 0. Infinity stands for slopes of :math:`e^{-n}`.

    >>> upper_rate(0.8), upper_rate(1.25), round(upper_rate(2.0), 3)
    (1.0, 0.8, 0.667)
    >>> upper_rate(math.inf) == upper_rate(2.0)
    True
    """
    if not isinstance(c, float) or c != math.inf:
        c = _checks.number("c", c, low=0.0, open_low=True)
    return 1.0 if c <= 1.0 else max(2.0 / 3.0, 1.0 / c)


def lower_rate(c: float) -> float:
    r"""The exponent of T in the lower bound for slopes of at most :math:`(n+1)^{-c}` (Theorem 5).

    It is :math:`\max(1/2, 2-c)` for :math:`1 < c < 2`, and 1 for :math:`c \le 1`.

    Parameters
    ----------
    c
        The exponent of the slopes, between 0 and 2.

    >>> lower_rate(1.25), lower_rate(1.8)
    (0.75, 0.5)
    """
    c = _checks.number("c", c, low=0.0, open_low=True)
    if c >= 2.0:
        raise InputError(f"c must be below 2, because Theorem 5 covers smaller c only, got {c!r}")
    return 1.0 if c <= 1.0 else max(0.5, 2.0 - c)
