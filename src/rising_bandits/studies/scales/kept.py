"""The scales that a study can store, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, cast

from rising_bandits.errors import InputError
from rising_bandits.studies.scales.base import Scale
from rising_bandits.studies.scales.ranges import Log, Range
from rising_bandits.studies.scales.unlimited import Decay, Inverse, Reciprocal

UNIT = Range()
"""The scale of outcomes that are in [0, 1] already."""

_TYPES: dict[str, type[Any]] = {kind.__name__: kind for kind in (Range, Log, Decay, Inverse, Reciprocal)}


def scale_from_spec(spec: Mapping[str, Any]) -> Scale:
    """The inverse of `Scale.spec`.

    >>> scale_from_spec(Decay(half=5.0, unit="s").spec())
    Decay(half=5.0, unit='s')
    """
    if not isinstance(cast(object, spec), Mapping):
        raise InputError(f"scale must be a mapping with the type and the arguments of a scale, got {spec!r}")
    arguments = dict(spec)
    kind = arguments.pop("type", None)
    if kind not in _TYPES:
        raise InputError(f"scale must be one of {', '.join(_TYPES)}, got {kind!r}")
    try:
        scale: Scale = _TYPES[kind](**arguments)
    except TypeError as error:
        raise InputError(f"scale is damaged: {error}") from None
    return scale


def scale_by_name(name: str, parameters: Mapping[str, Any], like: Scale | None = None) -> Scale:
    """The scale with this name on the command line.

    Parameters
    ----------
    name
        The name of its class, in small or capital letters.
    parameters
        The arguments of its class.
    like
        An earlier scale. Its unit and its direction are kept where they are not given.

    >>> scale_by_name("reciprocal", {"best": 2, "unit": "ms"})
    Reciprocal(best=2.0, unit='ms')
    >>> scale_by_name("range", {"high": 90}, like=Range(0, 60, lower_is_better=True, unit="min"))
    Range(low=0.0, high=90.0, lower_is_better=True, unit='min')
    """
    kinds = {kind.lower(): kind for kind in _TYPES}
    if name.lower() not in kinds:
        raise InputError(f"scale must be one of {', '.join(kinds)}, got {name!r}")
    kind = _TYPES[kinds[name.lower()]]
    known = [part.name for part in fields(kind) if part.init]
    unknown = [given for given in parameters if given not in known]
    if unknown:
        raise InputError(f"the scale {name} takes {', '.join(known)}, got {unknown[0]}")
    missing = [part.name for part in fields(kind) if part.init and part.default is MISSING]
    missing = [needed for needed in missing if needed not in parameters]
    if missing:
        raise InputError(f"the scale {name} needs {' and '.join(missing)}, as in {name}({missing[0]}=...)")
    kept: dict[str, Any] = {}
    if like is not None:
        kept = {part: getattr(like, part) for part in ("unit", "lower_is_better") if part in known}
    scale: Scale = kind(**{**kept, **parameters})
    return scale


def check_kept(scale: Scale) -> None:
    """Refuse a scale of the user's own, because a study stores parameters but no code."""
    if type(scale) not in _TYPES.values():
        raise InputError(
            f"scale must be one of {', '.join(_TYPES)}, because a study cannot store other scales, got {scale!r}; "
            "map outcomes to [0, 1] before you tell them instead"
        )
