"""Colours and lines: every policy looks the same wherever it is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rising_bandits.policies import BaseArmPolicy, SuperArmPolicy, classes


@dataclass(frozen=True)
class Look:
    """How a policy is drawn.

    Attributes
    ----------
    colour
        The colour, as ``#rrggbb``.
    line
        The line style, as matplotlib writes it.
    width
        The line width in points.
    """

    colour: str
    line: str
    width: float = 1.6


_VARIANTS = {
    "crucb(upward=True)": Look("#E69F00", "-", 2.4),
    "horizon-crucb(decay=0.0)": Look("#B04A8F", "-"),
    "r-ed-ucb(upward=True)": Look("#E69F00", "--"),
}
"""Looks of variants that figures show beside the policy without parameters."""
_WIDE = ("crucb", "horizon-crucb", "foresight")
_OTHERS = ("#E69F00", "#56B4E9", "#8C510A", "#1B8A8A", "#8A7D00")
PALETTE = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C510A", "#5E3C99")
"""Colours of lines that do not stand for policies."""
EARLY, LATE = "#999999", "#D55E00"
"""Colours of early peakers and of late bloomers."""


def one_of_many(place: int) -> dict[str, Any]:
    """Colour and line style of line number ``place`` in a figure whose lines are not policies.

    When the colours are used up, they are used again with another line style.

    >>> one_of_many(0), one_of_many(len(PALETTE))
    ({'color': '#D55E00', 'linestyle': '-'}, {'color': '#D55E00', 'linestyle': '--'})
    """
    dashes = ("-", "--", ":", "-.")
    return {"color": PALETTE[place % len(PALETTE)], "linestyle": dashes[place // len(PALETTE) % len(dashes)]}


def look(label: str) -> Look:
    """The colour, line style and line width of a policy.

    Dashed lines are policies on super arms, solid lines policies on base arms, dotted lines policies that do not learn,
    and dash-dotted lines policies that the library does not know.

    Parameters
    ----------
    label
        The label of the policy's runs, such as ``crucb`` or ``crucb(epsilon=0.25)``.

    Returns
    -------
    Look
        How to draw the policy. A label that is not known gets a colour computed from its letters.

    >>> look("crucb").line, look("sw-ucb").line
    ('-', '--')
    """
    name = label.partition("(")[0]
    if label in _VARIANTS:
        return _VARIANTS[label]
    kind = classes().get(name)
    other = _OTHERS[sum(map(ord, label)) % len(_OTHERS)]
    if kind is None:
        return Look(other, "-.")
    # Dashed for policies on super arms, solid for policies on base arms, dotted for policies that do not learn.
    line = "--" if issubclass(kind, SuperArmPolicy) else "-" if issubclass(kind, BaseArmPolicy) else ":"
    return Look(kind.colour if label == name and kind.colour else other, line, 2.4 if label in _WIDE else 1.6)


def _has_own(label: str) -> bool:
    """Whether a colour belongs to this policy or variant, rather than being computed from the letters of its label."""
    kind = classes().get(label)
    return label in _VARIANTS or (kind is not None and bool(kind.colour))


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """The looks of the policies of one figure, by label.

    Of several variants of a policy, the one with the shortest label gets the look of the policy itself.

    >>> found = looks(["crucb(epsilon=0.25, upward=True)", "crucb(epsilon=0.25)", "sw-ts"])
    >>> [found[label] == look("crucb") for label in found]
    [False, True, False]
    """
    plainest: dict[str, str] = {}
    for label in sorted(labels := list(labels), key=len):
        plainest.setdefault(label.partition("(")[0], label)
    names = {label: label.partition("(")[0] for label in labels}
    called = {label: name if plainest[name] == label else label for label, name in names.items()}
    wanted = {label: look(name) for label, name in called.items()}
    # Colours that belong to a policy are given first; the other policies share what is left.
    own = [label for label in labels if _has_own(called[label])]
    found: dict[str, Look] = {}
    for label in [*own, *(label for label in labels if label not in own)]:
        mine = wanted[label]
        colours = {other.colour for other in found.values()}
        used = {(other.colour, other.line) for other in found.values()}
        choice = [mine.colour, *_OTHERS, *PALETTE]
        # Two policies of one figure never look the same, and they share a colour only where colours run out.
        free = [colour for colour in choice if colour not in colours] if label not in own else []
        free += [colour for colour in choice if (colour, mine.line) not in used]
        found[label] = Look(free[0], mine.line, mine.width) if free else mine
    return {label: found[label] for label in labels}
