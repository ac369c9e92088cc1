"""What a migration works with: statements that both databases understand."""

from __future__ import annotations

from typing import Any, NamedTuple

_TYPES = {
    "KEY": ("INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", "SERIAL PRIMARY KEY"),
    "DOUBLE": ("DOUBLE", "DOUBLE PRECISION"),
    "BYTES": ("BLOB", "BYTEA"),
    "BY KEY": (" WITHOUT ROWID", ""),
}
"""What stands for a word in braces, in SQLite and in PostgreSQL.

A key counts upwards. The number of a study that was deleted never becomes another one's. A table by key has its rows in
the order of its primary key.
"""


class Changes(NamedTuple):
    """A connection inside a transaction that changes tables."""

    connection: Any
    sqlite: bool

    def run(self, statement: str, *values: Any) -> Any:
        """Run a statement, with ``?`` for each value and words in braces for types; its rows can be read."""
        place = 0 if self.sqlite else 1
        for word, types in _TYPES.items():
            statement = statement.replace("{" + word + "}", types[place])
        return self.connection.execute(statement if self.sqlite else statement.replace("?", "%s"), values)
