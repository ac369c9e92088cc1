"""Studies from files that `Study.export` wrote."""

from __future__ import annotations

import secrets
from pathlib import Path

from rising_bandits import _checks
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Problem
from rising_bandits.studies.log.log import Log
from rising_bandits.studies.naming import check_new_name, check_problem, class_of, refuse_known, remove
from rising_bandits.studies.reports.files import bring, read
from rising_bandits.studies.storage.places import connect
from rising_bandits.studies.storage.urls import DEFAULT
from rising_bandits.studies.study import Study

_ABANDONED = 24 * 3600.0
"""Seconds after which a load that did not end is taken to be left behind."""


def load(
    path: str | Path,
    name: str | None = None,
    *,
    storage: str = DEFAULT,
    policy: Policy | type[Policy] | None = None,
    problem: Problem | None = None,
    token: str | None = None,
) -> Study:
    """Make a new study from a file that `Study.export` wrote. Its next decision is the same as that of the original.

    Every event of the file is checked against the events before it.

    Parameters
    ----------
    path
        The file.
    name
        The name of the new study; by default the name of the exported one.
    storage
        The URL of the database, as in `create`.
    policy, problem, token
        As in `open`.

    Returns
    -------
    Study
        The new study.

    Raises
    ------
    InputError
        The file is damaged, or the name exists already. Nothing was written.
    """
    path = _checks.path("path", path)
    check_problem(problem)
    found, settings, rows = read(path)
    name = found if name is None else name
    check_new_name(name)
    kind = class_of(policy)
    database = connect(storage, token=token)
    try:
        with database.write() as writer:
            refuse_known(writer, name)
            abandoned = writer.hidden(writer.now - _ABANDONED)
            number = writer.add_study(f"loading {secrets.token_hex(8)}", settings.as_dict(), hidden=True)
        for old in abandoned:
            remove(database, old)
        log = Log(name, number, settings, database, kind, problem)
        try:
            fold = bring(log, path, rows)
            with database.write() as writer:
                refuse_known(writer, name)
                writer.show_study(number, name)
        except BaseException:
            remove(database, number)
            raise
        log.adopt(fold)
        log.keep_snapshot(fold)
        return Study(log)
    except BaseException:
        database.close()
        raise
