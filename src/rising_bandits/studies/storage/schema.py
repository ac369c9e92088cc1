"""The tables of a storage: studies, events and snapshots.

The state of a study follows from its events alone. Snapshots only save time. Events are never changed. The number of an
event is its place in the log of its study. The database itself refuses a second ask or a second final tell of the same
decision. A checksum of each event covers the event before it, see `rising_bandits.studies.storage.digests`. A study
that is being loaded or removed is hidden: its column ``loading`` has the time when that began.
"""

from __future__ import annotations

from rising_bandits.studies.storage.migrations import VERSIONS

VERSION_TABLE = "rising_bandits_version"
HEAD = VERSIONS[-1].VERSION
"""The newest version of the schema, that of the last file in ``migrations``."""
COLUMNS = {
    "rising_studies": ("id", "name", "created_at", "settings", "digest", "loading"),
    "rising_events": ("study_id", "seq", "kind", "at", "decision", "body", "digest"),
    "rising_snapshots": ("study_id", "seq", "at", "body"),
}
"""The columns of every table, in the newest version."""
