"""The forms in which a request describes a problem, a policy or a scale. Each makes what it describes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Meta, Struct

from rising_bandits import policies, problems
from rising_bandits.errors import InputError
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Label, Problem
from rising_bandits.serve.limits import LABEL, LABELS
from rising_bandits.studies.scales import Scale, scale_by_name

Text = Annotated[str, Meta(min_length=1, max_length=LABEL)]
Texts = Annotated[list[Text], Meta(max_length=LABELS)]
Edges = Annotated[list[Annotated[list[Text], Meta(min_length=2, max_length=3)]], Meta(min_length=1, max_length=LABELS)]
"""Pairs of nodes, or a pair and the label of the edge."""


class Paths(Struct, forbid_unknown_fields=True):
    """Paths from a source to a target. The arms are the edges."""

    edges: Edges
    source: Text
    target: Text
    reward: str | None = None

    def make(self) -> Problem:
        """The problem."""
        return problems.ShortestPath(_tuples(self.edges), self.source, self.target, reward=self.reward)


class Trees(Struct, forbid_unknown_fields=True):
    """Spanning trees of a graph. The arms are the edges."""

    edges: Edges

    def make(self) -> Problem:
        """The problem."""
        return problems.SpanningTree(_tuples(self.edges))


class Matchings(Struct, forbid_unknown_fields=True):
    """A job for each worker. The arms are the pairs."""

    workers: Annotated[Texts, Meta(min_length=1)]
    jobs: Annotated[Texts, Meta(min_length=1)]

    def make(self) -> Problem:
        """The problem."""
        return problems.Matching(self.workers, self.jobs)


class Sets(Struct, forbid_unknown_fields=True):
    """Sets of exactly k arms. The reward is the sum of their outcomes."""

    arms: Annotated[Texts, Meta(min_length=1)]
    k: Annotated[int, Meta(ge=1, le=LABELS)]

    def make(self) -> Problem:
        """The problem."""
        return problems.TopK(self.arms, self.k)


class Largest(Struct, forbid_unknown_fields=True):
    """Sets of exactly k arms. The reward is the largest of their outcomes."""

    arms: Annotated[Texts, Meta(min_length=1)]
    k: Annotated[int, Meta(ge=1, le=LABELS)]

    def make(self) -> Problem:
        """The problem."""
        return problems.KMax(self.arms, self.k)


class Routes(Struct, forbid_unknown_fields=True):
    """Paths between several pairs of a source and a target, one of which an ask names as ``among``."""

    edges: Edges
    pairs: Annotated[
        list[Annotated[list[Text], Meta(min_length=2, max_length=2)]], Meta(min_length=1, max_length=1_000)
    ]
    reward: str | None = None

    def make(self) -> Problem:
        """The problem."""
        pairs = [(source, target) for source, target in self.pairs]
        return problems.Routes(_tuples(self.edges), pairs, reward=self.reward)


class Groups(Struct, forbid_unknown_fields=True):
    """Exactly one arm of each group."""

    groups: Annotated[dict[Text, Annotated[Texts, Meta(min_length=1)]], Meta(min_length=1, max_length=1_000)]
    reward: str = "sum"

    def make(self) -> Problem:
        """The problem."""
        return problems.OneOfEach(self.groups, reward=self.reward)


class Budget(Struct, forbid_unknown_fields=True):
    """Sets of arms whose total cost stays within a budget."""

    costs: Annotated[dict[Text, float], Meta(min_length=1, max_length=LABELS)]
    budget: Annotated[float, Meta(gt=0)]

    def make(self) -> Problem:
        """The problem."""
        return problems.Knapsack(self.costs, self.budget)


def _tuples(edges: list[list[str]]) -> list[tuple[str, ...]]:
    """Edges as the library takes them."""
    return [tuple(edge) for edge in edges]


class ProblemChoice(Struct, forbid_unknown_fields=True):
    """A problem, in exactly one of these forms."""

    paths: Paths | None = None
    trees: Trees | None = None
    matchings: Matchings | None = None
    sets: Sets | None = None
    largest_of: Largest | None = None
    listed: Annotated[list[Texts], Meta(description="All super arms.")] | None = None
    routes: Routes | None = None
    one_of_each: Groups | None = None
    knapsack: Budget | None = None
    spec: Annotated[dict[str, Any], Meta(description="What problem.spec() returns in Python.")] | None = None

    def make(self) -> Problem:
        """The problem.

        Raises
        ------
        InputError
            There is none, or more than one, or it is wrong.
        """
        given = [name for name in self.__struct_fields__ if getattr(self, name) is not None]
        if len(given) != 1:
            forms = ", ".join(self.__struct_fields__)
            raise InputError(f"problem must have exactly one of {forms}; got {', '.join(given) or 'none'}")
        if self.listed is not None:
            return problems.Explicit(self.listed)
        if self.spec is not None:
            return Problem.from_spec(self.spec)
        made: Problem = getattr(self, given[0]).make()
        return made


class PolicyChoice(Struct, forbid_unknown_fields=True):
    """A policy of the library."""

    name: Annotated[str, Meta(min_length=1, max_length=100, description="Its name, such as horizon-crucb.")]
    parameters: dict[str, Any] = {}

    def make(self) -> Policy:
        """The policy. Only policies of the library have names here."""
        return policies.by_name(self.name, **self.parameters)


class ShareChoice(Struct, forbid_unknown_fields=True):
    """A rule that gets a share of the asks: a fixed super arm, or a policy of the library."""

    name: Annotated[str, Meta(min_length=1, max_length=100, description="The name of the rule, such as today.")]
    share: Annotated[float, Meta(ge=0, le=1, description="The share of the asks; 0 for none.")]
    super_arm: Annotated[Texts, Meta(min_length=1)] | None = None
    policy: PolicyChoice | None = None

    def make(self, meant: Callable[[list[str]], list[Label]]) -> list[Label] | Policy | None:
        """The rule; None keeps the one of this name.

        Raises
        ------
        InputError
            There are two, or it is wrong.
        """
        if self.super_arm is not None and self.policy is not None:
            raise InputError("share must have a super_arm or a policy, not both")
        if self.policy is not None:
            return self.policy.make()
        return None if self.super_arm is None else meant(self.super_arm)


class ScaleChoice(Struct, forbid_unknown_fields=True):
    """How outcomes become values from 0 to 1."""

    name: Annotated[str, Meta(description="range, log, decay, inverse or reciprocal.", max_length=50)]
    parameters: dict[str, Any] = {}

    def make(self) -> Scale:
        """The scale."""
        return scale_by_name(self.name, self.parameters)
