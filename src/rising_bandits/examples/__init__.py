"""Applications of the paper as short programs: ``python -m rising_bandits.examples.routing`` and its neighbours."""
