"""Conformance suites for your own policies, oracles and storages.

`check_policy`, `check_oracle` and `check_storage` raise an AssertionError that says what is wrong. The first two run
the checks in `POLICY_CHECKS` and `ORACLE_CHECKS`, which a test suite can also call one by one.
"""

from typing import TYPE_CHECKING, Any

from rising_bandits.testing.oracles import ORACLE_CHECKS, check_oracle
from rising_bandits.testing.policies import POLICY_CHECKS, check_policy

if TYPE_CHECKING:
    from rising_bandits.testing.storages import check_storage

__all__ = ["ORACLE_CHECKS", "POLICY_CHECKS", "check_oracle", "check_policy", "check_storage"]


def __getattr__(name: str) -> Any:
    # Storages need the extra ``studies``.
    if name == "check_storage":
        from rising_bandits.testing.storages import check_storage

        return check_storage
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
