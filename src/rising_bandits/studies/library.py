"""Studies by name in a storage: create, open, load, list, delete."""

from __future__ import annotations

import contextlib
import logging
import secrets
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any, cast

import numpy as np

from rising_bandits import _checks, policies
from rising_bandits.errors import InputError
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Label, Problem
from rising_bandits.studies.calls.setting import check_forgets, least_body, prior_body
from rising_bandits.studies.loading import load
from rising_bandits.studies.log import snapshot
from rising_bandits.studies.log.events import Event, check_author
from rising_bandits.studies.log.fold import Fold
from rising_bandits.studies.log.log import Log
from rising_bandits.studies.naming import check_name, check_new_name, check_problem, class_of, remove
from rising_bandits.studies.scales import UNIT, Scale, check_kept
from rising_bandits.studies.settings import Settings, begin, problem_body
from rising_bandits.studies.storage.base import Storage
from rising_bandits.studies.storage.places import connect
from rising_bandits.studies.storage.urls import DEFAULT
from rising_bandits.studies.study import Study

__all__ = ["create", "delete", "load", "names", "open"]

_LOGGER = logging.getLogger("rising_bandits.studies")
Clock = Callable[[], float]


def create(
    name: str,
    problem: Problem,
    policy: Policy | None = None,
    *,
    storage: str = DEFAULT,
    scale: Scale | None = None,
    expires: timedelta | float | None = None,
    reorder: int = 256,
    horizon: int | None = None,
    prior: Mapping[Label, float | tuple[float, int]] | None = None,
    least: Mapping[Label, float] | None = None,
    spread: bool = False,
    falls: str = "propose",
    seed: int | None = None,
    exist_ok: bool = False,
    power_safe: bool = False,
    timeout: float = 30.0,
    clock: Clock | None = None,
    token: str | None = None,
    author: str | None = None,
) -> Study:
    """Create a study in a storage.

    A call that returned survives the end of the process at any instant.

    Parameters
    ----------
    name
        The name of the study, 1 to 200 characters. It must be new, unless ``exist_ok`` is True.
    problem
        The problem to decide about.
    policy
        The policy that decides. Only its class and its parameters are used. None takes the policy that
        `rising_bandits.policies.recommended` makes for the problem and the horizon.
    storage
        The URL of the database, as in ``"sqlite:///routes.db"`` or ``"postgresql://user@host/database"``, or the
        address of a service, as in ``"http://host:8765"``.
    scale
        How outcomes in the user's unit become values in [0, 1]; by default outcomes are such values already.
    expires
        How long a decision can be told, in seconds or as a `timedelta`; None for ever.
    reorder
        The limit of reordering. Tells are learnt in the order in which their decisions were asked for. A tell that
        arrives after ``reorder`` later decisions is learnt when it arrives.
    horizon
        How many rounds there will be; None if nobody knows.
    prior
        What you believe about arms, in your unit: by label an outcome, or a pair of an outcome and the number of plays
        that it is worth. See `Study.add_prior`.
    least
        Least shares of arms that must stay in use, by label. See `Study.set_least`.
    spread
        True lets decisions that are open at the same time differ. See `Study.set_spread`.
    falls
        What happens when the study notices that an arm has fallen: ``"propose"`` a reset, ``"reset"`` it, or
        ``"ignore"`` it. See `Study.set_falls`.
    seed
        The seed of all random choices; None for a random one.
    exist_ok
        True opens a study of that name, unchanged, if there is one.
    power_safe
        True makes each call wait until its data is on disk, so that it also survives a power cut. PostgreSQL always
        waits.
    timeout
        How many seconds to wait while another process has locked the SQLite file.
    clock
        A function that returns the time in seconds since 1970; by default the server's clock for PostgreSQL, and this
        machine's clock for SQLite.
    token
        The token, if ``storage`` is the address of a service; by default that in the environment variable RISING_TOKEN.
    author
        Who creates and changes the study; None if nobody is to be named. See `Study.author`.

    Returns
    -------
    Study
        The new study.

    Raises
    ------
    InputError
        An argument is wrong, or the policy cannot decide about the problem. Nothing was written.
    StorageError
        The database cannot be opened or written.

    >>> import tempfile, rising_bandits as rb
    >>> folder = tempfile.TemporaryDirectory()
    >>> storage = f"sqlite:///{folder.name}/routes.db"
    >>> problem = rb.problems.ShortestPath([("a", "b"), ("b", "c"), ("a", "c")], "a", "c")
    >>> study = create("routes", problem, storage=storage, seed=1)
    >>> decision = study.ask()
    >>> decision.super_arm
    ['a->b', 'b->c']
    >>> study.tell(decision.id, {"a->b": 0.9, "b->c": 0.7})
    True
    >>> open("routes", storage=storage).policy.plays.tolist()
    [1, 1, 0]
    >>> study.close(); folder.cleanup()
    """
    check_new_name(name)
    check_author(author)
    _checks.boolean("exist_ok", exist_ok)
    policy = policies.recommended(problem, horizon) if policy is None else policy
    if not isinstance(cast(object, policy), Policy):
        raise InputError(f"policy must be a Policy such as HorizonCRUCB(), or None, got {policy!r}")
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
    # A policy that cannot decide about this problem, or cannot be saved, raises here, before anything is written.
    first = Event(1, "problem", 0.0, None, body)
    fold = begin(settings, policy.__class__(**policy.parameters()), first, lambda _: problem)
    more = _first_events(fold, prior, least, spread, falls)
    if author is not None:
        first, *more = [event._replace(body={**event.body, "author": author}) for event in (first, *more)]
    for event in more:
        fold.apply(event)
    snapshot.dump(fold)
    database = connect(storage, power_safe=power_safe, timeout=timeout, clock=clock, token=token)
    with _closed_on_error(database):
        with database.write() as writer:
            found = writer.study(name)
            if found is None:
                number = writer.add_study(name, settings.as_dict())
                writer.append(number, [event._replace(at=writer.now) for event in (first, *more)])
            elif exist_ok:
                number, settings = found[0], Settings.from_dict(found[1])
            else:
                raise InputError(f"name must be new, but there is a study {name!r}; open it, or pass exist_ok=True")
        if found is None:
            _LOGGER.info("study %r was created, with the policy %r", name, policy)
        study = Study(Log(name, number, settings, database, type(policy), problem))
        study.author = author
    return study


@contextlib.contextmanager
def _closed_on_error(database: Storage) -> Iterator[None]:
    """Close a storage at once if the block raises. Otherwise its files would stay open until Python finds it unused."""
    try:
        yield
    except BaseException:
        database.close()
        raise


def _first_events(fold: Fold, prior: Any, least: Any, spread: Any, falls: Any) -> list[Event]:
    """The events after the first that a new study begins with."""
    bodies = []
    if prior:
        fold.live.policy.copy().absorb(0, np.zeros(0))
        bodies.append(("prior", prior_body(fold, prior)))
    if least:
        bodies.append(("set", least_body(fold, least)))
    if spread:
        bodies.append(("set", {"spread": spread}))
    if falls != fold.settings.falls:
        if falls == "reset":
            check_forgets(fold)
        bodies.append(("set", {"falls": falls}))
    return [Event(place, kind, 0.0, None, body) for place, (kind, body) in enumerate(bodies, start=2)]


def open(  # noqa: A001
    name: str,
    *,
    storage: str = DEFAULT,
    policy: Policy | type[Policy] | None = None,
    problem: Problem | None = None,
    power_safe: bool = False,
    timeout: float = 30.0,
    clock: Clock | None = None,
    token: str | None = None,
    author: str | None = None,
) -> Study:
    """Open an existing study. It continues exactly where it stopped.

    Parameters
    ----------
    name
        The name of the study.
    storage
        The URL of the database, as in `create`.
    policy
        The policy, or its class. Needed only if the class is the user's own.
    problem
        The problem. Needed only if it contains the user's own code, which a database cannot store.
    power_safe, timeout, clock, token, author
        As in `create`.

    Returns
    -------
    Study
        The study.

    Raises
    ------
    InputError
        There is no such study, or ``policy`` or ``problem`` is needed.
    StorageError
        The database cannot be opened.
    """
    check_name(name)
    check_author(author)
    check_problem(problem)
    kind = class_of(policy)
    database = connect(storage, create=False, power_safe=power_safe, timeout=timeout, clock=clock, token=token)
    with _closed_on_error(database):
        with database.read() as reader:
            found = reader.study(name)
            known = reader.names()
        if found is None:
            raise _unknown(name, known)
        study = Study(Log(name, found[0], Settings.from_dict(found[1]), database, kind, problem))
        study.author = author
        _check_class(study, kind)
    return study


def names(*, storage: str = DEFAULT, token: str | None = None) -> list[str]:
    """List the names of the studies in a storage.

    Parameters
    ----------
    storage, token
        The URL of the database and the token, as in `create`.

    Returns
    -------
    list of str
        The names, sorted.
    """
    database = connect(storage, create=False, look=True, token=token)
    with _closed_on_error(database), database.read() as reader:
        found = reader.names()
    database.close()
    return found


def delete(name: str, *, storage: str = DEFAULT, token: str | None = None) -> None:
    """Delete a study with its log and its snapshots.

    Parameters
    ----------
    name
        The name of the study.
    storage, token
        The URL of the database and the token, as in `create`.

    Raises
    ------
    InputError
        There is no study of that name.
    """
    check_name(name)
    database = connect(storage, create=False, token=token)
    with _closed_on_error(database):
        with database.read() as reader:
            known = reader.names()
        if name not in known:
            # Found out without a lock, and before anything is written beside a file that may be a stranger's.
            raise _unknown(name, known)
        with database.write() as writer:
            found = writer.study(name)
            if found is None:
                raise _unknown(name, writer.names())
            writer.hide_study(found[0])
        remove(database, found[0])
    database.close()


def _unknown(name: str, known: list[str]) -> InputError:
    """The error for the name of a study that is not there."""
    listed = ", ".join(map(repr, known[:6])) + (", ..." if len(known) > 6 else "") if known else "there are none"
    return InputError(f"name must be one of the studies of the storage ({listed}), got {name!r}")


def _check_class(study: Study, kind: type[Policy] | None) -> None:
    """Refuse the class of a policy that the study does not have."""
    name = study.settings.policy
    if kind is not None and kind.__name__ != name:
        raise InputError(f"policy must be a {name}, which the study has now, got {kind.__name__}")
