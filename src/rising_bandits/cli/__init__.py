"""The ``rising`` command: thin commands over the rest."""

from rising_bandits.cli.app import main

__all__ = ["main"]
