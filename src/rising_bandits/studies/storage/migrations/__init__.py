"""The database schema, version by version: one file a version. Files that were released are never changed.

A version has a number, ``VERSION``, and a function ``upgrade`` that changes tables of the version before it.
"""

from rising_bandits.studies.storage.migrations import v0001_first, v0002_checksums

VERSIONS = (v0001_first, v0002_checksums)
"""All versions, oldest first."""
