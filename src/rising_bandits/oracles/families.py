"""Several families of super arms over the same base arms, of which one is chosen for each decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rising_bandits._checks import Bools, Floats, Ints
from rising_bandits.errors import InfeasibleError, InputError
from rising_bandits.oracles.base import SuperArmOracle, finite_weights


class Families(SuperArmOracle):
    """The super arms of several oracles that share their base arms, such as paths between many pairs of nodes.

    `among` returns the oracle of one family. Without a choice, the best super arm of all families is found.

    Parameters
    ----------
    families
        An oracle for each family, or its `spec`, by name. All have the same number of base arms and are exact for a
        common reward.

    >>> from rising_bandits.oracles import DagPaths
    >>> links = {"tails": ["a", "b", "a"], "heads": ["b", "c", "c"]}
    >>> routes = {"a->c": DagPaths(**links, source="a", target="c"), "a->b": DagPaths(**links, source="a", target="b")}
    >>> oracle = Families(routes)
    >>> oracle.solve([0.2, 0.1, 0.9]), oracle.among("a->b").solve([0.2, 0.1, 0.9])
    (array([2]), array([0]))
    """

    def __init__(self, families: Mapping[str, SuperArmOracle | dict[str, Any]]) -> None:
        if not isinstance(cast(object, families), Mapping) or not families:
            raise InputError(f"families must map the name of each family to its oracle, got {families!r:.80}")
        self._families = {name: _read(name, part) for name, part in families.items()}
        parts = list(self._families.values())
        sizes = {part.n_arms for part in parts}
        if len(sizes) > 1:
            raise InputError(f"families must share their base arms, got {sorted(sizes)} base arms")
        self.n_arms = sizes.pop()
        self.max_size = max(part.max_size for part in parts)
        self.exact = all(part.exact for part in parts)
        self.exact_for = frozenset.intersection(*(part.exact_for for part in parts))
        self.choices = tuple(self._families)
        if not self.exact_for & set(_VALUES):
            raise InputError("families must be exact for a common reward: sum, harmonic or product")

    def among(self, choice: str) -> SuperArmOracle:
        if not isinstance(cast(object, choice), str) or choice not in self._families:
            known = ", ".join(map(repr, self.choices[:5])) + (", ..." if len(self.choices) > 5 else "")
            raise InputError(f"among must be one of {known}, got {choice!r}")
        return self._families[choice]

    def _value(self, weights: Floats, arms: Ints) -> float:
        """The value of a super arm that the solvers maximise."""
        name = next(name for name in _VALUES if name in self.exact_for)
        return float(_VALUES[name](weights[arms]))

    def best(self, weights: Floats) -> Ints:
        return self.search(weights, None)

    def search(self, weights: Floats, mask: Bools | None) -> Ints:
        values = finite_weights(weights)
        found: list[Ints] = []
        for part in self._families.values():
            try:
                found.append(part.search(weights, mask))
            except InfeasibleError:
                continue
        if not found:
            raise self.nothing_left(mask)
        return max(found, key=lambda arms: self._value(values, arms))

    def containing(
        self, arm: int, mask: npt.ArrayLike | None = None, prefer: npt.ArrayLike | None = None
    ) -> Ints | None:
        liked = self.preferred(prefer)
        found = [part.containing(arm, mask, prefer) for part in self._families.values()]
        whole = [arms for arms in found if arms is not None]
        return max(whole, key=lambda arms: int(liked[arms].sum())) if whole else None

    def is_feasible(self, arms: Sequence[int] | Ints) -> bool:
        return any(part.is_feasible(arms) for part in self._families.values())

    def ordered(self, arms: Sequence[int] | Ints) -> Ints:
        whole = (part for part in self._families.values() if part.is_feasible(arms))
        part = next(whole, None)
        return super().ordered(arms) if part is None else part.ordered(arms)

    def enumerate(self) -> Iterator[Sequence[int]] | None:
        listings = [part.enumerate() for part in self._families.values()]
        if any(listing is None for listing in listings):
            return None
        return self._each(listings)

    def _each(self, listings: Sequence[Iterator[Sequence[int]] | None]) -> Iterator[Sequence[int]]:
        """Every super arm once, in the order of the families."""
        seen: set[tuple[int, ...]] = set()
        for listing in listings:
            for arms in listing or ():
                key = tuple(sorted(int(arm) for arm in arms))
                if key not in seen:
                    seen.add(key)
                    yield key

    def spec(self) -> dict[str, Any] | None:
        specs = {name: part.spec() for name, part in self._families.items()}
        return None if None in specs.values() else {"type": "Families", "families": specs}


def _read(name: object, part: object) -> SuperArmOracle:
    """An oracle of one family, or the one that its description stands for."""
    if isinstance(part, dict) and part.get("type") != "Families":
        from rising_bandits.oracles import from_spec

        part = from_spec(part)
    if not isinstance(name, str) or not isinstance(part, SuperArmOracle) or isinstance(part, Families):
        raise InputError(f"families must map names to oracles, got {name!r} with {part!r:.80}")
    return part


_VALUES: dict[str, Any] = {
    "sum": np.sum,
    "harmonic": lambda weights: -np.sum(1.0 / np.maximum(weights, 1e-12)),
    "product": lambda weights: np.sum(np.log(np.clip(weights, 1e-12, 1.0))),
}
"""For each reward, a number that is larger for a better super arm, as the solvers see it."""
