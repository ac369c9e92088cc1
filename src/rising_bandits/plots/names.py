"""Names in figures: policies as a reader would write them, and texts that fit."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

from rising_bandits.policies import classes


def title(label: str) -> str:
    """The name of a policy in figures and tables.

    Parameters
    ----------
    label
        The label of the policy's runs, such as ``crucb`` or ``crucb(epsilon=0.25)``.

    >>> title("sw-cucb"), title("crucb(epsilon=0.25, upward=True)"), title("my_bandits:Cure(k=3)")
    ('SW-CUCB', 'CRUCB (ε = 0.25, upward slopes)', 'Cure (k = 3)')
    """
    name, bracket, rest = label.partition("(")
    # A policy of one's own is named by its class; its module says nothing to a reader.
    name = name.rpartition(":")[2]
    kind = classes().get(name)
    return (kind.title if kind is not None and kind.title else name) + (f" ({_said(rest)})" if bracket else "")


_SYMBOLS = {"epsilon": "ε", "sigma": "σ", "delta": "δ"}
_SAYINGS = {
    ("upward", "True"): "upward slopes",
    ("upward", "False"): "all slopes",
    ("bonus", "'paper'"): "bonus 30 log t",
    ("bonus", "'reference'"): "bonus 4 log t",
    ("bonus", "'proved'"): "proved bonus",
}


def _said(parameters: str) -> str:
    """Parameters as a reader would write them, given as ``epsilon=0.25, upward=True)``."""
    try:
        call = ast.parse(f"f({parameters}", mode="eval").body
    except SyntaxError:
        return parameters.removesuffix(")")
    said = []
    for part in getattr(call, "keywords", ()):
        value = ast.unparse(part.value)
        word = _SYMBOLS.get(part.arg, str(part.arg).replace("_", " "))
        plain = {"True": word, "False": f"no {word}", "None": f"no {word}"}.get(value)
        if value[0] in "'\"":
            plain = f"{word} {value[1:-1]}"
        elif plain is None:
            # 1.0 is written 1, as people do.
            plain = f"{word} = {value.removesuffix('.0')}"
        said.append(_SAYINGS.get((str(part.arg), value), plain))
    return ", ".join(said)


def wrapped(text: str, inches: float, size: float = 11.0) -> str:
    r"""A title in lines that fit a width, given the size of its letters in points.

    >>> wrapped("a title of several words", 1.0).count("\n")
    2
    """
    most = max(8, int(inches * 72 / (0.56 * size)))
    count = len(textwrap.wrap(text, most))
    # The narrowest lines that are not more in number: no last line with a single word.
    widths = range(max(8, len(text) // max(1, count)), most + 1)
    return "\n".join(next(lines for width in widths if len(lines := textwrap.wrap(text, width)) <= count))


def shortened(names: Sequence[str], letters: int) -> list[str]:
    """Names cut to a number of letters so that they stay different, as far as that is possible.

    What all names begin or end with is cut first if names that are cut in the middle would be the same.

    >>> shortened(["supplier 1 of the region", "supplier 12 of the region"], 14)
    ['supplier 1…', 'supplier 12…']
    """
    found = [short(name, letters) for name in names]
    if len(set(found)) == len(set(names)):
        return found
    tail = _common([name[::-1] for name in names])
    heads = [f"{name[: len(name) - tail].rstrip()}…" if tail > 1 else name for name in names]
    found = [short(name, letters) for name in heads]
    if len(set(found)) == len(set(names)):
        return found
    start = _common(heads)
    return [short(f"…{name[start:]}" if start > 1 else name, letters) for name in heads]


def _common(texts: Sequence[str]) -> int:
    """How many letters all texts begin with."""
    columns = enumerate(zip(*texts, strict=False))
    return next((place for place, letters in columns if len(set(letters)) > 1), min(map(len, texts)))


def short(text: str, letters: int) -> str:
    """A text cut to a number of letters. It is cut in the middle, because names often differ at their ends.

    >>> short("supplier number 12", 10)
    'suppl…r 12'
    """
    if len(text) <= letters:
        return text
    tail = (letters - 1) // 2
    return f"{text[: letters - 1 - tail]}…{text[len(text) - tail :]}"
