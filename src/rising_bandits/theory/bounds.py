r"""The paper's regret bounds as numbers: the upper bound of Theorem 4 term by term, and both lower bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rising_bandits import _checks
from rising_bandits._checks import Floats
from rising_bandits.errors import InputError
from rising_bandits.problems.tasks import Task


def largest_increments(task: Task, plays: int) -> tuple[Floats, Floats]:
    r"""The values of :math:`\max_i \gamma_i(l)` for :math:`l < M` and how often each occurs, zeros left out.

    :math:`\gamma_i(l) = \mu_i(l+1) - \mu_i(l)`.
    """
    largest = np.zeros(plays)
    for curve in dict.fromkeys(task.curves):
        increments = np.diff(curve.table(plays + 1))
        largest[: increments.size] = np.maximum(largest[: increments.size], increments)
    values, counts = np.unique(largest[largest > 0.0], return_counts=True)
    return values, counts.astype(np.float64)


def upsilon(task: Task, plays: int, q: float) -> float:
    r"""The cumulative increment :math:`\Upsilon(M, q) = \sum_{l<M} \max_i \gamma_i(l)^q` (Metelli et al., 2022).

    Plays at which no arm rises count as 0 for every q, also for q = 0.

    >>> from rising_bandits.problems import tasks
    >>> round(upsilon(tasks.get("path-easy"), 10_000, 1.0), 4)
    0.9452
    """
    _checks.integer("plays", plays, low=1)
    _checks.number("q", q, low=0.0, high=1.0)
    values, counts = largest_increments(task, plays)
    return float((counts * values**q).sum())


@dataclass(frozen=True)
class UpperBound:
    """Theorem 4's bound on the regret of CRUCB, term by term."""

    start: float
    """First plays and rounds in which an estimate is far off, (2 + L pi^2 / 3) K."""
    growth: float
    """The price of rising outcomes, B K T^q / (1 - 2 epsilon) * upsilon((1 - 2 epsilon) L T / K, q)."""
    noise: float
    """The price of noise, (3 K / epsilon) (2 B sigma T)^(2/3) (6 log 4T)^(1/3)."""
    q: float
    """The exponent at which the bound is smallest."""
    trivial: float
    """What no policy can exceed: L B T."""

    @property
    def total(self) -> float:
        """The bound."""
        return self.start + self.growth + self.noise

    @property
    def useful(self) -> bool:
        """Whether the bound says more than that outcomes lie in [0, 1]."""
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
    r"""The bound of Theorem 4 for CRUCB on a task, smallest over q in [0, 1] unless ``q`` is given.

    .. math::

        \Big(2 + \tfrac{L\pi^2}{3}\Big)K + \frac{BKT^q}{1-2\varepsilon}
        \Upsilon\!\Big((1-2\varepsilon)\tfrac{LT}{K}, q\Big)
        + \frac{3K}{\varepsilon}(2B\sigma T)^{2/3}(6\log 4T)^{1/3}

    Assumes concave rising means and a reward that is B-Lipschitz in the sum of changes (B = 1 for
    sums and for the maximum). In q the middle term is a sum of exponentials, so it is convex and its
    minimum is found, not guessed.

    The proof's last term has the bonus sqrt(2 log 4t^3), not the sqrt(10 log t^3) that the algorithm is
    defined with; ``constant`` = C gives the term for a bonus of C log t (30 for the paper's algorithm).

    >>> from rising_bandits.problems import tasks
    >>> bound = upper_bound(tasks.get("path-easy"))
    >>> bound.useful, bound.total < upper_bound(tasks.get("path-easy"), constant=30.0).total
    (True, True)
    """
    horizon = _checks.integer("horizon", task.horizon if horizon is None else horizon, low=1)
    _checks.number("epsilon", epsilon, low=0.0, high=0.5, open_low=True, open_high=True)
    _checks.number("lipschitz", lipschitz, low=0.0)
    sigma = _checks.number("sigma", task.sigma if sigma is None else sigma, low=0.0)
    if constant is not None:
        _checks.number("constant", constant, low=0.0)
    arms, size = task.problem.n_arms, task.problem.oracle.max_size
    plays = max(1, math.ceil((1.0 - 2.0 * epsilon) * size * horizon / arms))
    values, counts = largest_increments(task, plays)
    logarithm = 6.0 * math.log(4.0 * horizon) if constant is None else constant * math.log(horizon)

    def growth(exponent: float) -> float:
        total = float((counts * (horizon * values) ** exponent).sum())
        return lipschitz * arms / (1.0 - 2.0 * epsilon) * total

    if q is None:
        q = _minimise(growth) if values.size else 1.0
    _checks.number("q", q, low=0.0, high=1.0)
    return UpperBound(
        start=(2.0 + size * math.pi**2 / 3.0) * arms,
        growth=growth(q),
        noise=3.0 * arms / epsilon * (2.0 * lipschitz * sigma * horizon) ** (2 / 3) * logarithm ** (1 / 3),
        q=q,
        trivial=size * lipschitz * horizon,
    )


def _minimise(function: Callable[[float], float]) -> float:
    """The place in [0, 1] where a convex function is smallest."""
    from scipy.optimize import minimize_scalar

    found = float(minimize_scalar(function, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-6}).x)
    # The bounded method never reaches the ends themselves.
    return min((0.0, found, 1.0), key=function)


def lower_bound(horizon: int, size: int = 1, c: float | None = None) -> float:
    r"""What every policy must suffer on some instance with super arms of ``size`` arms.

    Without ``c``, Theorem 5 for all rising instances: L T / 18, the exact value of its pair for policies that may be
    random (the paper's L T / 16 holds for those that are not). With 1 < ``c`` < 2, Theorem 6 for slopes of at
    most :math:`(n+1)^{-c}`: what the two instances of `rising_bandits.theory.instances.fine_grained` cost
    any policy, computed rather than estimated. It grows like :math:`T^{2-c}`; the theorem's other term,
    :math:`L\sqrt{T}`, comes from noise and is not in it.

    The factor L is for copies each of which may be A or B; see `docs/theory/lower-bounds.md`.

    >>> lower_bound(1800, size=2)
    200.0
    >>> round(lower_bound(100_000, c=1.2) / lower_bound(10_000, c=1.2), 1)
    5.9
    """
    _checks.integer("horizon", horizon, low=1)
    _checks.integer("size", size, low=1)
    if c is None:
        return size * horizon / 18.0
    from rising_bandits.theory.instances import fine_grained_level

    return size * fine_grained_level(horizon, c).bound


def upper_rate(c: float) -> float:
    r"""The exponent of T in Corollary 2's bound for :math:`f(n) = (n+1)^{-c}`, logarithms left out.

    For :math:`f(n) = e^{-n}`, which falls faster than any power, ``c`` is infinite.

    >>> upper_rate(0.8), upper_rate(1.25), round(upper_rate(2.0), 3)
    (1.0, 0.8, 0.667)
    >>> upper_rate(math.inf) == upper_rate(2.0)
    True
    """
    if c != math.inf:
        c = _checks.number("c", c, low=0.0, open_low=True)
    return 1.0 if c <= 1.0 else max(2.0 / 3.0, 1.0 / c)


def lower_rate(c: float) -> float:
    r"""The exponent of T in Theorem 6's bound, :math:`\max(1/2, 2-c)`, and 1 up to c = 1.

    >>> lower_rate(1.25), lower_rate(1.8)
    (0.75, 0.5)
    """
    c = _checks.number("c", c, low=0.0, open_low=True)
    if c >= 2.0:
        raise InputError(f"c must be below 2, where Theorem 6 ends, got {c!r}")
    return 1.0 if c <= 1.0 else max(0.5, 2.0 - c)
