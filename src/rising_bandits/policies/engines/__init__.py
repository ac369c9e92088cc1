"""Engines: the only code that selects a super arm by its indices and that learns from outcomes.

An engine is a NamedTuple with ``ready``, ``select`` and ``learn`` registered, or a Python object with methods of those
names. A policy is a shell around one; a live decision and a simulated round run the same functions.
"""
