"""Changes of a study: arms that come, go and begin again, and settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from rising_bandits import studies
from rising_bandits.serve import schemas
from rising_bandits.serve.labels import Texts
from rising_bandits.serve.operations import Call, operation
from rising_bandits.serve.problems import Refused

_TAG = "Change"


_ARMS = ("retire", "restore", "reset")
"""Methods of a study that take some arms."""
_METHODS: dict[str, Callable[[studies.Study, Texts, Any], None]] = {
    "policy": lambda study, _, choice: study.set_policy(choice.make()),
    "scale": lambda study, _, choice: study.set_scale(choice.make()),
    "horizon": lambda study, _, rounds: study.set_horizon(rounds),
    "expires": lambda study, _, seconds: study.set_expiry(seconds),
    "falls": lambda study, _, falls: study.set_falls(falls),
    "spread": lambda study, _, spread: study.set_spread(spread),
    "share": lambda study, texts, share: study.hand_over(share.name, share.make(texts.meant), share.share),
    "least": lambda study, texts, least: study.set_least(texts.outcomes(least)),
}
"""How each setting is set."""


def given(change: schemas.Settings) -> dict[str, Any]:
    """The settings that a request gives. A horizon or an expiry may be given as null; for others null is nothing."""
    found = {name: getattr(change, name) for name in _METHODS}
    return {
        name: value
        for name, value in found.items()
        if value is not UNSET and (value is not None or name in ("horizon", "expires"))
    }


def apply(study: studies.Study, texts: Texts, change: schemas.Settings) -> None:
    """Make a change of a study. Masks are not part of it: they hold for one decision."""
    if isinstance(change, schemas.Change):
        for method in _ARMS:
            if named := getattr(change, method):
                getattr(study, method)(texts.meant(named))
    for name, value in given(change).items():
        _METHODS[name](study, texts, value)


def _change_of_arms(method: str, doc: str) -> None:
    """Declare an operation that calls a method of the study with some arms."""

    async def change(call: Call) -> Any:
        texts: list[str] = call.body.arms
        await call.change(lambda study, known: getattr(study, method)(known.meant(texts)))
        return schemas.Done()

    change.__name__, change.__doc__ = method, doc
    path, body = f"/v1/studies/{{study}}/{method}", schemas.ArmsBody
    operation("POST", path, right="change", tag=_TAG, body=body, answer=schemas.Done)(change)


_change_of_arms("retire", "Stop using some arms until they are restored.")
_change_of_arms("restore", "Use retired arms again.")
_change_of_arms("reset", "Forget the plays of some arms, because the things behind them were replaced.")


@operation("POST", "/v1/studies/{study}/settings", right="change", tag=_TAG, body=schemas.Settings, answer=schemas.Done)
async def change_settings(call: Call) -> Any:
    """Decide with another policy, horizon, expiry or scale from now on, or treat falls and open decisions otherwise."""
    change: schemas.Settings = call.body
    if not given(change):
        raise Refused(422, f"send at least one of {', '.join(_METHODS)}")
    await call.change(lambda study, texts: apply(study, texts, change))
    return schemas.Done()
