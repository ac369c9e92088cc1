"""Studies: create, list, show, delete."""

from __future__ import annotations

import inspect
from typing import Any

import msgspec

from rising_bandits import policies, studies
from rising_bandits.errors import InputError
from rising_bandits.policies.catalogue import describe
from rising_bandits.serve import schemas
from rising_bandits.serve.labels import Texts
from rising_bandits.serve.operations import Call, operation
from rising_bandits.serve.problems import Refused

_TAG = "Studies"


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
        shares=[
            schemas.Share(name, share, _rule(study, texts, dict(settings.rules).get(name)))
            for name, share in settings.shares
            if share > 0.0
        ],
    )


def _rule(study: studies.Study, texts: Texts, rule: dict[str, Any] | None) -> str:
    """A rule that gets a share of the asks, as text."""
    if rule is None:
        return "a function of a program"
    if "policy" in rule:
        found = {kind.__name__: kind for kind in policies.classes().values()}.get(rule["policy"])
        return rule["policy"] if found is None else repr(found(**rule["parameters"]))
    names = {key: texts.text(label) for label, key in study.keys().items()}
    return ", ".join(names.get(key, "a former arm") for key in rule["arms"])


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
    "POST", "/v1/studies", right="create", tag=_TAG, body=schemas.NewStudy, answer=schemas.Study, statuses=(409,)
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
        problem = wanted.problem.make()
        options: dict[str, Any] = {
            name: getattr(wanted, name) for name in ("horizon", "expires", "reorder", "seed", "exist_ok")
        } | {"author": call.author}
        policy = policies.recommended(problem, wanted.horizon) if wanted.policy is None else wanted.policy.make()
        scale = None if wanted.scale is None else wanted.scale.make()
        where: dict[str, Any] = {"storage": call.hub.url, "power_safe": call.hub.power_safe}
        try:
            studies.create(wanted.name, problem, policy, scale=scale, **where, **options).close()
        except InputError:
            if not wanted.exist_ok and wanted.name in call.hub.names_now():
                raise Refused(409, f"there is a study {wanted.name!r} already") from None
            raise

    await call.hub.make(work)
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
