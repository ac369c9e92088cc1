"""Studies by name in a storage: create, open, list, delete."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from rising_bandits import policies
from rising_bandits.errors import InputError
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Problem
from rising_bandits.studies.log import snapshot
from rising_bandits.studies.log.events import Event
from rising_bandits.studies.log.log import Log
from rising_bandits.studies.reports.files import bring, read
from rising_bandits.studies.scales import UNIT, Scale, check_kept
from rising_bandits.studies.settings import Settings, begin, problem_body
from rising_bandits.studies.storage.sql import DEFAULT, Storage
from rising_bandits.studies.study import Study

Clock = Callable[[], float]


def create(
    name: str,
    problem: Problem,
    policy: Policy,
    *,
    storage: str = DEFAULT,
    scale: Scale | None = None,
    expires: timedelta | float | None = None,
    reorder: int = 256,
    horizon: int | None = None,
    seed: int | None = None,
    exist_ok: bool = False,
    power_safe: bool = False,
    timeout: float = 30.0,
    clock: Clock | None = None,
) -> Study:
    """A new study in a storage.

    ``scale`` says how outcomes in the user's unit become values in [0, 1]; by default they are such values.
    ``expires`` is how long a decision can be told, in seconds or as a `timedelta`; by default for ever.
    ``reorder`` bounds how many decisions are kept in order: a tell that comes after so many later ones counts where
    it arrives. With ``exist_ok`` a study of that name is opened as it is.

    What is acknowledged survives the end of the process at any instant. With ``power_safe`` it also survives a power
    cut, at the price of one wait for the disk per call; PostgreSQL always does that.

    >>> import tempfile, rising_bandits as rb
    >>> folder = tempfile.TemporaryDirectory()
    >>> storage = f"sqlite:///{folder.name}/routes.db"
    >>> problem = rb.problems.ShortestPath([("a", "b"), ("b", "c"), ("a", "c")], "a", "c")
    >>> study = create("routes", problem, rb.CRUCB(sigma=0.05), storage=storage, seed=1)
    >>> decision = study.ask()
    >>> decision.super_arm
    ['a->b', 'b->c']
    >>> study.tell(decision.id, {"a->b": 0.9, "b->c": 0.7})
    True
    >>> open("routes", storage=storage).policy.plays.tolist()
    [1, 1, 0]
    >>> study.close(); folder.cleanup()
    """
    _check_name(name)
    if not isinstance(cast(object, policy), Policy):
        raise InputError(f"policy must be a Policy such as CRUCB(sigma=0.05), got {policy!r}")
    scale = UNIT if scale is None else scale
    if not isinstance(cast(object, scale), Scale):
        raise InputError(f"scale must be a Scale such as Range(0, 200, lower_is_better=True), got {scale!r}")
    check_kept(scale)
    settings = Settings(
        policy=type(policy).__name__,
        parameters=policy.parameters(),
        horizon=horizon,
        seed=secrets.randbits(63) if seed is None else seed,
        scale=scale,
        expires=expires.total_seconds() if isinstance(expires, timedelta) else expires,
        reorder=reorder,
    )
    body = problem_body(problem, {})
    # A policy that cannot decide about this problem, or cannot be saved, says so here, before anything was written.
    first = Event(1, "problem", 0.0, None, body)
    snapshot.dump(begin(settings, policy.__class__(**policy.parameters()), first, lambda _: problem))
    database = Storage(storage, power_safe=power_safe, timeout=timeout, clock=clock)
    with database.write() as writer:
        found = writer.study(name)
        if found is None:
            number = writer.add_study(name, settings.as_dict())
            writer.append(number, [Event(1, "problem", writer.now, None, body)])
        elif exist_ok:
            number, settings = found[0], Settings.from_dict(found[1])
        else:
            raise InputError(f"name must be new, but there is a study {name!r}; open it, or pass exist_ok=True")
    return Study(Log(name, number, settings, database, _policy_class(settings.policy, policy), problem))


def open(  # noqa: A001
    name: str,
    *,
    storage: str = DEFAULT,
    policy: Policy | type[Policy] | None = None,
    problem: Problem | None = None,
    power_safe: bool = False,
    timeout: float = 30.0,
    clock: Clock | None = None,
) -> Study:
    """A study that exists, as it was left, random state included.

    ``policy`` and ``problem`` are needed only where these are code of the user's own, which a database cannot hold.
    """
    _check_name(name)
    database = Storage(storage, create=False, power_safe=power_safe, timeout=timeout, clock=clock)
    with database.read() as reader:
        found = reader.study(name)
        known = reader.names()
    if found is None:
        raise InputError(f"name must be one of the studies of the storage ({_listed(known)}), got {name!r}")
    settings = Settings.from_dict(found[1])
    return Study(Log(name, found[0], settings, database, _policy_class(settings.policy, policy), problem))


def load(
    path: str | Path,
    name: str | None = None,
    *,
    storage: str = DEFAULT,
    policy: Policy | type[Policy] | None = None,
    problem: Problem | None = None,
) -> Study:
    """A new study from a file that `Study.export` wrote: the same decisions, the same state, the same next decision.

    ``name`` is its name in this storage, by default the one it had.
    """
    found, settings, rows = read(Path(path))
    name = found if name is None else name
    _check_name(name)
    kind = _policy_class(settings.policy, policy)
    database = Storage(storage)
    with database.write() as writer:
        if writer.study(name) is not None:
            raise InputError(f"name must be new, but there is a study {name!r}; pass another name")
        number = writer.add_study(name, settings.as_dict())
        log = Log(name, number, settings, database, kind, problem)
        fold = bring(log, writer, Path(path), rows)
    log.adopt(fold)
    log.keep_snapshot(fold)
    return Study(log)


def names(*, storage: str = DEFAULT) -> list[str]:
    """The names of the studies in a storage, sorted."""
    database = Storage(storage, create=False)
    with database.read() as reader:
        found = reader.names()
    database.close()
    return found


def delete(name: str, *, storage: str = DEFAULT) -> None:
    """Remove a study and everything that it was told."""
    _check_name(name)
    database = Storage(storage, create=False)
    with database.write() as writer:
        found = writer.study(name)
        if found is None:
            raise InputError(f"name must be one of the studies ({_listed(writer.names())}), got {name!r}")
        writer.remove_study(found[0])
    database.close()


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.strip() or len(name) > 200:
        raise InputError(f"name must be a text of 1 to 200 characters, got {name!r}")


def _listed(known: list[str]) -> str:
    return ", ".join(map(repr, known[:6])) + (", ..." if len(known) > 6 else "") if known else "there are none"


def _policy_class(name: str, given: Policy | type[Policy] | None) -> type[Policy]:
    """The class of a policy by name: a built-in one, or the one that was handed in."""
    kind = type(given) if isinstance(given, Policy) else given
    if kind is not None and kind.__name__ == name:
        return kind
    if kind is not None:
        raise InputError(f"policy must be a {name}, as when the study was created, got {kind.__name__}")
    built_in = {known.__name__: known for known in policies.classes().values()}
    if name not in built_in:
        raise InputError(
            f"policy must be handed in to open this study, a class {name} of your own: open(..., policy={name})"
        )
    return built_in[name]
