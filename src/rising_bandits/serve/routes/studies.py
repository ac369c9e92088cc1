"""Studies: create, list, show, delete."""

from __future__ import annotations

import inspect
from typing import Any

import msgspec

from rising_bandits import policies, problems, studies
from rising_bandits.errors import InputError
from rising_bandits.policies.catalogue import describe
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Problem
from rising_bandits.serve import schemas
from rising_bandits.serve.labels import Texts
from rising_bandits.serve.operations import Call, operation
from rising_bandits.serve.problems import Refused
from rising_bandits.studies.scales import Scale, scale_by_name

_TAG = "Studies"


def make_problem(choice: schemas.ProblemChoice) -> Problem:
    """The problem that a request describes."""
    given = [name for name in choice.__struct_fields__ if getattr(choice, name) is not None]
    if len(given) != 1:
        forms = ", ".join(choice.__struct_fields__)
        raise InputError(f"problem must have exactly one of {forms}; got {', '.join(given) or 'none'}")
    if choice.paths is not None:
        edges = [tuple(edge) for edge in choice.paths.edges]
        return problems.ShortestPath(edges, choice.paths.source, choice.paths.target, reward=choice.paths.reward)
    if choice.trees is not None:
        return problems.SpanningTree([tuple(edge) for edge in choice.trees.edges])
    if choice.matchings is not None:
        return problems.Matching(choice.matchings.workers, choice.matchings.jobs)
    if choice.sets is not None:
        return problems.TopK(choice.sets.arms, choice.sets.k)
    if choice.largest_of is not None:
        return problems.KMax(choice.largest_of.arms, choice.largest_of.k)
    if choice.listed is not None:
        return problems.Explicit(choice.listed)
    if choice.routes is not None:
        links = [tuple(edge) for edge in choice.routes.edges]
        pairs = [(source, target) for source, target in choice.routes.pairs]
        return problems.Routes(links, pairs, reward=choice.routes.reward)
    if choice.one_of_each is not None:
        return problems.OneOfEach(choice.one_of_each.groups, reward=choice.one_of_each.reward)
    if choice.knapsack is not None:
        return problems.Knapsack(choice.knapsack.costs, choice.knapsack.budget)
    assert choice.spec is not None
    return Problem.from_spec(choice.spec)


def make_policy(choice: schemas.PolicyChoice) -> Policy:
    """The policy that a request names. Only policies of the library have names here."""
    return policies.by_name(choice.name, **choice.parameters)


def make_scale(choice: schemas.ScaleChoice | None) -> Scale | None:
    """The scale that a request describes."""
    return None if choice is None else scale_by_name(choice.name, choice.parameters)


def summary(study: studies.Study, texts: Texts) -> schemas.Study:
    """A study in short."""
    policy, problem, settings = study.policy, study.problem, study.settings
    waiting = study.open_decisions()
    return schemas.Study(
        name=study.name,
        policy=repr(policy),
        problem=repr(problem),
        unit=study.scale.unit,
        lower_is_better=study.scale.lower_is_better,
        horizon=settings.horizon,
        expires=settings.expires,
        decisions=study.decisions,
        round=policy.round,
        open=len(waiting),
        unlisted=study.unlisted,
        arms=problem.n_arms,
        retired=texts.shown(study.retired),
    )


@operation("GET", "/v1/policies", right="read", tag=_TAG, answer=schemas.Policies)
async def list_policies(call: Call) -> Any:
    """List the policies that a study can have, with their parameters."""
    found = []
    for kind in policies.classes().values():
        about = describe(kind)
        if inspect.Parameter.empty not in about["parameters"].values():
            about["name"] = about.pop("policy")
            found.append({name: about[name] for name in schemas.PolicyInfo.__struct_fields__})
    return msgspec.convert({"policies": found}, schemas.Policies)


@operation("GET", "/v1/studies", right="read", tag=_TAG, answer=schemas.Studies)
async def list_studies(call: Call) -> Any:
    """List the studies that the token may see."""
    return schemas.Studies([name for name in await call.hub.names() if call.grant.sees(name)])


@operation(
    "POST", "/v1/studies", right="create", tag=_TAG, body=schemas.NewStudy, answer=schemas.Study, statuses=(409, 422)
)
async def create(call: Call) -> Any:
    """Create a study.

    The problem is given in one of its forms, such as paths with edges, source and target. Without a policy the study
    takes the recommended one.
    """
    wanted: schemas.NewStudy = call.body
    if not call.grant.sees(wanted.name):
        raise Refused(403, f"the token {call.grant.name!r} is not for a study {wanted.name!r}")

    def work() -> None:
        problem = make_problem(wanted.problem)
        options: dict[str, Any] = {
            name: getattr(wanted, name) for name in ("horizon", "expires", "reorder", "seed", "exist_ok")
        }
        policy = policies.recommended(problem, wanted.horizon) if wanted.policy is None else make_policy(wanted.policy)
        if not wanted.exist_ok and wanted.name in call.hub.names_now():
            raise Refused(409, f"there is a study {wanted.name!r} already")
        scale = make_scale(wanted.scale)
        studies.create(
            wanted.name, problem, policy, storage=call.hub.url, scale=scale, power_safe=call.hub.power_safe, **options
        ).close()

    await call.hub.run(work)
    return await call.hub.read(wanted.name, summary)


@operation("GET", "/v1/studies/{study}", right="read", tag=_TAG, answer=schemas.Study)
async def show(call: Call) -> Any:
    """Show a study in short."""
    return await call.hub.read(call.study, summary)


@operation("DELETE", "/v1/studies/{study}", right="delete", tag=_TAG, answer=schemas.Done)
async def delete(call: Call) -> Any:
    """Delete a study with its whole log."""
    await call.hub.delete(call.study)
    return schemas.Done()
