"""The paper, reproduced: what to run, what is claimed, what came of it, and a report that says so."""

from rising_bandits.reproduction.reproduce import reproduce
from rising_bandits.reproduction.sections import SECTIONS

__all__ = ["SECTIONS", "reproduce"]
