"""CTS: Thompson sampling for every base arm from all its plays, and the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rising_bandits.policies.levels import BaseArmPolicy
from rising_bandits.policies.parameters import checked_deviation, checked_posterior, checked_sigma
from rising_bandits.policies.rules.window import ALL_PLAYS, WindowTS, make_window_ts
from rising_bandits.problems.base import Problem


@dataclass(kw_only=True, eq=False)
class CTS(BaseArmPolicy):
    r"""Combinatorial Thompson sampling for arms that do not change.

    The index of an arm with :math:`N` plays is a sample, from all its outcomes :math:`x`:

    - ``"beta"``: :math:`\theta \sim \mathrm{Beta}(1 + \sum x, 1 + N - \sum x)` (Wang and Chen, ICML 2018);
    - ``"gaussian"``: :math:`\theta \sim \mathcal N(\frac1N \sum x, \sigma^2 / N)` (Perrault et al., NeurIPS 2020).

    It assumes flat arms. Wang and Chen turn an outcome between 0 and 1 into 0 or 1 by a coin; here its value itself is
    added, as in `SWCTS`. It takes O(1) memory per arm.

    Parameters
    ----------
    posterior
        ``"beta"`` or ``"gaussian"``.
    sigma
        The deviation of an outcome for the Gaussian posterior; 1/2 is enough for outcomes in [0, 1].

    >>> import rising_bandits as rb
    >>> policy = CTS(posterior="gaussian", sigma=0.1)
    >>> policy.start(rb.problems.TopK(["x"], k=1), rng=0)
    >>> for outcome in (0.2, 0.4):
    ...     policy.observe([0], [outcome])
    >>> {name: part.round(2).tolist() for name, part in policy.terms().items()}
    {'recent average': [0.3]}
    """

    name = "cts"
    title = "CTS"
    first_plays = 1

    posterior: str = "beta"
    sigma: float = 0.5

    def __post_init__(self) -> None:
        self.posterior = checked_posterior(self.posterior)
        # Only the Gaussian posterior uses it; a task without noise tells 0.
        self.sigma = (checked_deviation if self.posterior == "gaussian" else checked_sigma)(self.sigma)

    @classmethod
    def examples(cls) -> list[dict[str, Any]]:
        return [{"posterior": "gaussian", "sigma": 0.1}]

    def make_rule(self, n_units: int, problem: Problem, horizon: int | None) -> WindowTS:
        return make_window_ts(n_units, ALL_PLAYS, sigma=self.sigma if self.posterior == "gaussian" else 0.0)
