"""The code that a study needs and cannot store: the class of its policy, and problems with code of the user's own."""

from __future__ import annotations

import json
from typing import Any

from rising_bandits import policies
from rising_bandits.errors import InputError
from rising_bandits.policies.policy import Policy
from rising_bandits.problems.base import Problem, _label

_PROBLEMS_KEPT = 4
"""How many problems are cached."""


class CodeMissingError(InputError):
    """A study needs a class or a problem with code of the user's own, and it was not passed."""


class Code:
    """The classes and problems of a study, by what its log says about them.

    Parameters
    ----------
    policy
        The class of the policy, if it was passed.
    problem
        The problem, if it was passed.
    """

    def __init__(self, policy: type[Policy] | None, problem: Problem | None) -> None:
        self.policy, self.problem = policy, problem
        self._problems: dict[str, Problem] = {}

    def kind(self, name: str) -> type[Policy]:
        """The class of a policy by its name: the class that was passed to `open`, or one of the library."""
        if self.policy is not None and self.policy.__name__ == name:
            return self.policy
        built_in = {known.__name__: known for known in policies.classes().values()}
        if name not in built_in and self.policy is not None:
            raise InputError(f"policy must be a {name}, which the study has now, got {self.policy.__name__}")
        if name not in built_in:
            raise CodeMissingError(
                f"policy must be passed to open this study, whose policy is your own class {name}: "
                f"open(..., policy={name})"
            )
        return built_in[name]

    def has_class(self, name: str) -> bool:
        """Whether the class of a policy is known."""
        try:
            self.kind(name)
        except InputError:
            return False
        return True

    def resolve(self, body: dict[str, Any]) -> Problem:
        """The problem of a problem event, made from its spec, or the problem that was passed to `open`."""
        text = json.dumps([body["spec"], body["labels"]])
        if text not in self._problems:
            if body["spec"] is not None:
                problem = Problem.from_spec(body["spec"])
            elif self.problem is None or list(self.problem.labels) != [_label(label) for label in body["labels"]]:
                arms = ", ".join(repr(_label(label)) for label in body["labels"][:6])
                raise CodeMissingError(
                    "problem must be passed to open this study, because it contains your own code: "
                    f"open(..., problem=...) with the arms {arms}{', ...' if len(body['labels']) > 6 else ''}"
                )
            else:
                problem = self.problem
            self._problems = {**dict(list(self._problems.items())[1 - _PROBLEMS_KEPT :]), text: problem}
        return self._problems[text]

    def check_second(self, problem: Problem) -> None:
        """Refuse a second problem with the user's own code, because only one can be passed to `open`."""
        given = self.problem
        if given is not None and given is not problem and given.spec() is None:
            raise InputError(
                "problem must not be a second one that contains your own code, because only one can be passed when the "
                "study is opened; if the arms are the same, open it with problem=... instead; otherwise create a "
                "new study and import_plays of this one's history()"
            )

    def hand_in(self, problem: Problem) -> None:
        """Keep a problem with the user's own code, which its event cannot contain."""
        self.problem = problem
