"""Changes of a study: arms that come, go and begin again."""

from __future__ import annotations

from typing import Any

from msgspec import UnsetType

from rising_bandits import studies
from rising_bandits.serve import schemas
from rising_bandits.serve.labels import Texts
from rising_bandits.serve.operations import Call, operation
from rising_bandits.serve.problems import Refused
from rising_bandits.serve.routes.studies import make_policy
from rising_bandits.studies.scales import scale_by_name

_TAG = "Change"


def apply(study: studies.Study, texts: Texts, change: schemas.Change | schemas.SettingsBody) -> None:
    """Make a change of a study. Masks are not part of it: they hold for one decision."""
    if isinstance(change, schemas.Change):
        for method in ("retire", "restore", "reset"):
            if named := getattr(change, method):
                getattr(study, method)(texts.meant(named))
    if change.policy is not None:
        study.set_policy(make_policy(change.policy))
    if change.scale is not None:
        study.set_scale(scale_by_name(change.scale.name, change.scale.parameters))
    if not isinstance(change.horizon, UnsetType):
        study.set_horizon(change.horizon)
    if not isinstance(change.expires, UnsetType):
        study.set_expiry(change.expires)


def _change_of_arms(method: str, doc: str) -> None:
    """Declare an operation that calls a method of the study with some arms."""

    async def change(call: Call) -> Any:
        texts: list[str] = call.body.arms
        await call.hub.write(call.study, lambda study, known: getattr(study, method)(known.meant(texts)))
        return schemas.Done()

    change.__name__, change.__doc__ = method, doc
    path, body = f"/v1/studies/{{study}}/{method}", schemas.ArmsBody
    operation("POST", path, right="change", tag=_TAG, body=body, answer=schemas.Done, statuses=(422,))(change)


_change_of_arms("retire", "Stop using some arms until they are restored.")
_change_of_arms("restore", "Use retired arms again.")
_change_of_arms("reset", "Forget the plays of some arms, because the things behind them were replaced.")


@operation(
    "POST",
    "/v1/studies/{study}/settings",
    right="change",
    tag=_TAG,
    body=schemas.SettingsBody,
    answer=schemas.Done,
    statuses=(422,),
)
async def change_settings(call: Call) -> Any:
    """Decide with another policy, horizon, expiry or scale from now on."""
    change: schemas.SettingsBody = call.body
    given = [
        change.policy,
        change.scale,
        *(v for v in (change.horizon, change.expires) if not isinstance(v, UnsetType)),
    ]
    if given == [None, None]:
        raise Refused(422, "send at least one of policy, horizon, expires and scale")
    await call.hub.write(call.study, lambda study, texts: apply(study, texts, change))
    return schemas.Done()
