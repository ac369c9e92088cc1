"""Between plain data and the JSON text of an event's body."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)


def _made_once() -> Callable[[Any], str]:
    """Python's encoder in C, made once: `json` makes one for every text, which takes longer than to use it."""
    make = getattr(json.encoder, "c_make_encoder", None)
    quoted = json.encoder.encode_basestring_ascii
    try:
        parts = make(None, _ENCODER.default, quoted, None, ":", ",", False, False, True)  # type: ignore[misc]
        whole = {"a": [1, 0.5, None, True, "\u00e4\n"], "b": {"c": []}}
        if "".join(parts(whole, 0)) != _ENCODER.encode(whole):
            return _ENCODER.encode
    except Exception:
        # Another Python may make it in another way.
        return _ENCODER.encode
    return lambda body: "".join(parts(body, 0))


encode = _made_once()
"""From plain data to its JSON text, without spaces."""


def _read_at_once() -> Callable[[str], Any]:
    """Python's decoder in C, without the search for spaces around the text; `json.loads` where there is none.

    >>> decode('{"arms":[1,2]}'), decode(' {"arms": [1]} ')
    ({'arms': [1, 2]}, {'arms': [1]})
    """
    scan = getattr(json.JSONDecoder(), "scan_once", None)

    def read(text: str) -> Any:
        if type(text) is str:
            try:
                found, end = scan(text, 0)  # type: ignore[misc]
            except StopIteration:
                end = -1
            if end == len(text):
                return found
        return json.loads(text)

    try:
        whole = '{"a":[1,0.5,null,true,"\\u00e4"],"b":{"c":[]}}'
        if read(whole) == json.loads(whole):
            return read
    except Exception:
        # Another Python may have another decoder.
        return json.loads
    return json.loads


decode = _read_at_once()
"""From a JSON text to plain data, as `json.loads` does it, which takes longer for a text without spaces around it."""
