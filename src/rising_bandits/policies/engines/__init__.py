"""Engines: the only implementation of select and learn, from indices to a super arm and from outcomes to what is known.

An engine is a NamedTuple with ``ready``, ``select`` and ``learn`` registered, or a Python object with methods of those
names. A policy is a shell around one; a live decision and a simulated round run the same functions.
"""
