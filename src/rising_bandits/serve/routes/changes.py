"""Changes of a study: arms that come, go and begin again."""

from __future__ import annotations

from typing import Any

from rising_bandits.serve import schemas
from rising_bandits.serve.operations import Call, operation

_TAG = "Change"


async def _change(call: Call, method: str) -> schemas.Done:
    """Call a method of the study with the labels of some arms."""
    texts: list[str] = call.body.arms
    await call.hub.write(call.study, lambda study, known: getattr(study, method)(known.meant(texts)))
    return schemas.Done()


@operation(
    "POST",
    "/v1/studies/{study}/retire",
    right="change",
    tag=_TAG,
    body=schemas.ArmsBody,
    answer=schemas.Done,
    statuses=(422,),
)
async def retire(call: Call) -> Any:
    """Stop using some arms until they are restored."""
    return await _change(call, "retire")


@operation(
    "POST",
    "/v1/studies/{study}/restore",
    right="change",
    tag=_TAG,
    body=schemas.ArmsBody,
    answer=schemas.Done,
    statuses=(422,),
)
async def restore(call: Call) -> Any:
    """Use retired arms again."""
    return await _change(call, "restore")


@operation(
    "POST",
    "/v1/studies/{study}/reset",
    right="change",
    tag=_TAG,
    body=schemas.ArmsBody,
    answer=schemas.Done,
    statuses=(422,),
)
async def reset(call: Call) -> Any:
    """Forget the plays of some arms, because the things behind them were replaced."""
    return await _change(call, "reset")
