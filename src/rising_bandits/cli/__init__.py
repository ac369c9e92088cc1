"""The ``rising`` command: thin commands over the rest."""
