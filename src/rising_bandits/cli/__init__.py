"""The ``rising`` command line."""

from rising_bandits.cli.app import main

__all__ = ["main"]
