"""Names of studies, and what creating, loading and deleting a study share."""

from __future__ import annotations

from typing import Any, cast

from rising_bandits.errors import InputError
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Problem
from rising_bandits.studies.storage.base import Storage, Writer


def check_new_name(name: Any) -> None:
    """Refuse what cannot be the name of a new study. Names are shown in terminals and on pages."""
    check_name(name)
    if not name.isprintable():
        raise InputError(f"name must be printable text, without control characters and line breaks, got {name!r}")


def check_name(name: Any) -> None:
    """Refuse what cannot be the name of a study."""
    if not isinstance(name, str) or not name.strip() or len(name) > 200:
        raise InputError(f"name must be a text of 1 to 200 characters, got {name!r}")
    if "\0" in name or any("\ud800" <= character <= "\udfff" for character in name):
        raise InputError(f"name must be text that UTF-8 can hold, without NUL, got {name!r}")


def refuse_known(writer: Writer, name: str) -> None:
    """Refuse the name of a study that is there."""
    if writer.study(name) is not None:
        raise InputError(f"name must be new, but there is a study {name!r}; pass another name")


def remove(database: Storage, number: int) -> None:
    """Remove a hidden study, a part at a time, so that others can write in between."""
    more = True
    while more:
        with database.write() as writer:
            more = writer.remove_some(number)


def class_of(given: Policy | type[Policy] | None) -> type[Policy] | None:
    """The class of a policy, or the class that was passed itself; refuses anything else."""
    kind = type(given) if isinstance(given, Policy) else given
    if kind is not None and not (isinstance(cast(object, kind), type) and issubclass(kind, Policy)):
        raise InputError(f"policy must be a Policy, its class or None, got {given!r}")
    return kind


def check_problem(problem: Problem | None) -> None:
    """Refuse what is neither a problem nor None."""
    if problem is not None and not isinstance(cast(object, problem), Problem):
        raise InputError(f"problem must be a Problem such as ShortestPath(...), or None, got {problem!r}")
