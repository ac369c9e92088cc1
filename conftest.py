"""For pytest: the package is imported before tests are collected.

Given a folder of the package, pytest would run its ``__init__`` a second time otherwise, and register its tasks twice.
"""

import importlib

importlib.import_module("rising_bandits")
