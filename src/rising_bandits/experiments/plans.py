"""Plans as files: a study of parameters in TOML, which can be committed, run and kept with its results."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rising_bandits import _checks
from rising_bandits._files import locked, replacing
from rising_bandits.errors import InputError
from rising_bandits.experiments.identity import Trust
from rising_bandits.experiments.plan import make_plan
from rising_bandits.experiments.spec import RunSpec
from rising_bandits.experiments.texts import seeds_of

_MOST_BYTES = 2**20
_SPACED = ("range", "linspace", "geomspace")


@dataclass(frozen=True)
class Plan:
    """A plan as data: which policies run on which tasks, and how. `runs` gives its runs, `read` reads a TOML file.

    Parameters
    ----------
    tasks, policies
        As `make_plan` takes them, with grids.
    seeds
        How many seeds, or a range such as ``"1000-1004"``.
    horizon
        The number of rounds of each run; by default each task's own.
    record
        Rounds to record in addition to the usual ones.
    metrics
        Metrics to compute for each run.
    options
        How the tasks are played; see `RunSpec`.

    >>> plan = Plan(["toy"], ["crucb(epsilon=[0.1, 0.2])"], seeds="5-6", horizon=1_000)
    >>> len(plan.runs())
    4
    >>> print(plan.to_toml())
    tasks = ["toy"]
    policies = ["crucb(epsilon=[0.1, 0.2])"]
    seeds = "5-6"
    horizon = 1000
    <BLANKLINE>
    """

    tasks: Sequence[str]
    policies: Sequence[str] = ("all",)
    seeds: int | str = 5
    horizon: int | None = None
    record: Sequence[int] = ()
    metrics: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def runs(self, trust: Trust = None) -> list[RunSpec]:
        """The runs of the plan.

        Parameters
        ----------
        trust
            For a plan that was read from a file: the modules of your own that it may import. By default any.
        """
        return make_plan(
            self.tasks,
            self.policies,
            seeds=self.seeds,
            horizon=self.horizon,
            rounds=self.record,
            metrics=self.metrics,
            options=self.options,
            trust=trust,
        )

    @classmethod
    def read(cls, path: str | Path) -> Plan:
        """Read a plan from a TOML file. Nothing that it names is imported.

        Policies are texts in ``policies``, or tables ``[[policy]]`` with a ``name`` and parameters, in which a list or
        a table such as ``{ linspace = [0.1, 0.4, 4] }`` stands for several values.

        Parameters
        ----------
        path
            The file.

        Raises
        ------
        InputError
            The file cannot be read or is not a plan.
        """
        path = Path(path)
        try:
            # A pipe has no size, and perhaps no end.
            if path.stat().st_size > _MOST_BYTES or not path.is_file():
                raise InputError(f"plan {str(path)!r} must be a file of at most {_MOST_BYTES >> 10} kB")
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(f"plan {str(path)!r} does not exist") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"plan {str(path)!r} must be a TOML file: {error}") from None
        return cls.from_dict(data)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Plan:
        """A plan from the tables of a TOML file, which are checked.

        Parameters
        ----------
        data
            The tables.

        Raises
        ------
        InputError
            The data is not a plan.
        """
        known = {"tasks", "policies", "policy", "seeds", "horizon", "record", "metrics", "options"}
        if unknown := sorted(set(data) - known):
            raise InputError(f"a plan has the entries {', '.join(sorted(known))}; got {', '.join(unknown)}")
        policies = [*_texts(data, "policies"), *(_policy(table) for table in _tables(data, "policy"))]
        tasks = _texts(data, "tasks")
        if not tasks:
            raise InputError('a plan must name tasks, as in tasks = ["path-easy"]')
        seeds, options = data.get("seeds", 5), data.get("options", {})
        seeds_of(seeds)
        if not isinstance(options, dict):
            raise InputError(f"options must be a table, got {options!r}")
        horizon = data.get("horizon")
        record = data.get("record", [])
        if not isinstance(record, list):
            raise InputError(f"record must be a list of rounds, got {record!r}")
        return cls(
            tasks,
            policies or ["all"],
            seeds,
            None if horizon is None else _checks.integer("horizon", horizon, low=1),
            [_checks.integer("record", value, low=1) for value in record],
            _texts(data, "metrics"),
            options,
        )

    def to_toml(self) -> str:
        """The plan as the text of a TOML file."""
        entries: dict[str, Any] = {
            "tasks": list(self.tasks),
            "policies": list(self.policies),
            "seeds": self.seeds,
            "horizon": self.horizon,
            "record": list(self.record),
            "metrics": list(self.metrics),
        }
        lines = [f"{name} = {_toml(value)}" for name, value in entries.items() if value not in (None, [])]
        if self.options:
            lines += ["", "[options]", *(f"{name} = {_toml(value)}" for name, value in self.options.items())]
        return "\n".join(lines) + "\n"

    def keep(self, folder: str | Path) -> Path:
        """Write the plan into a results folder, as ``_plan.toml``.

        Another plan that is there stays: this one is then ``_plan-2.toml``, and so on.

        Parameters
        ----------
        folder
            The results folder.

        Returns
        -------
        Path
            The file.
        """
        folder, text = Path(folder), self.to_toml()
        with locked(folder / ".lock"):
            number = 1
            while True:
                path = folder / ("_plan.toml" if number == 1 else f"_plan-{number}.toml")
                if not path.exists() or path.read_bytes() == text.encode():
                    break
                number += 1
            with replacing(path) as aside:
                aside.write_text(text, encoding="utf-8")
            return path


def _toml(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A JSON text is a TOML text too, except for DEL, which neither tasks nor policies have.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, list):
        return f"[{', '.join(_toml(part) for part in value)}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(key)} = {_toml(part)}' for key, part in value.items())} }}"
    return repr(value)


def _texts(data: Mapping[str, Any], name: str) -> list[str]:
    found = data.get(name, [])
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise InputError(f"{name} of a plan must be a list of texts, got {found!r}")
    return found


def _tables(data: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = data.get(name, [])
    if not isinstance(found, list) or not all(isinstance(table, dict) for table in found):
        raise InputError(f"{name} of a plan must be tables, as in [[{name}]], got {found!r}")
    return found


def _policy(table: Mapping[str, Any]) -> str:
    """A policy as text, given as a table."""
    name = table.get("name")
    if not isinstance(name, str):
        raise InputError(f"a [[policy]] of a plan must have a name, got {dict(table)!r}")
    parts = []
    for key, value in table.items():
        if key == "name":
            continue
        if not key.isidentifier():
            raise InputError(f"a parameter of {name} must be a name, got {key!r}")
        if isinstance(value, dict):
            kind = next(iter(value), "")
            if len(value) != 1 or kind not in _SPACED or not isinstance(value[kind], list):
                raise InputError(f"{key} of {name} must be a value, a list, or such as {{ linspace = [0.1, 0.4, 4] }}")
            parts.append(f"{key}={kind}({', '.join(map(repr, value[kind]))})")
        else:
            parts.append(f"{key}={value!r}")
    return f"{name}({', '.join(parts)})" if parts else name
