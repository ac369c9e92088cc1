"""Reproduction of the paper: its experiments and theory, with checks of its claims and a report of the results."""

from rising_bandits.reproduction.reproduce import reproduce
from rising_bandits.reproduction.sections import SECTIONS

__all__ = ["SECTIONS", "reproduce"]
