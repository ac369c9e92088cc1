"""The paper's applications as short programs, such as ``python -m rising_bandits.examples.routing``."""
