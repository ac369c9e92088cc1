"""Labels as texts, for JSON: every arm of a problem has a text of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rising_bandits.problems.base import Label


class Texts:
    """The texts of some labels, and the labels of texts.

    A label that is a text is its own text. Another label has the text that Python prints for it; where that is taken,
    the number of the arm is added.

    Parameters
    ----------
    labels
        The labels of a problem.

    >>> texts = Texts([1, "1", ("a", "b")])
    >>> texts.shown([1, "1", ("a", "b")])
    ['1 (arm 0)', '1', "('a', 'b')"]
    >>> texts.meant(["1", "('a', 'b')"])
    ['1', ('a', 'b')]
    """

    def __init__(self, labels: Sequence[Label]) -> None:
        self.labels = tuple(labels)
        self._label: dict[str, Label] = {label: label for label in labels if isinstance(label, str)}
        self._text: dict[Label, str] = {}
        for arm, label in enumerate(labels):
            if not isinstance(label, str):
                text = str(label)
                while text in self._label:
                    text += f" (arm {arm})"
                self._label[text] = label
                self._text[label] = text

    def text(self, label: Label) -> str:
        """The text of a label."""
        return label if isinstance(label, str) else self._text.get(label, str(label))

    def shown(self, labels: Iterable[Label]) -> list[str]:
        """The texts of some labels."""
        return [label if type(label) is str else self.text(label) for label in labels]

    def label(self, text: str) -> Label:
        """The label that a text means. An unknown text stays what it is: it may be another name of an arm."""
        return self._label.get(text, text)

    def meant(self, texts: Iterable[str]) -> list[Label]:
        """The labels that some texts mean."""
        return [self._label.get(text, text) for text in texts]

    def outcomes(self, told: Mapping[str, Any]) -> dict[Label, Any]:
        """Outcomes by label, from outcomes by text."""
        return {self._label.get(text, text): outcome for text, outcome in told.items()}
