"""Conformance suites for your own policies and oracles.

`check_policy` and `check_oracle` raise an AssertionError that says what is wrong. They run the checks in
`POLICY_CHECKS` and `ORACLE_CHECKS`, which a test suite can also call one by one.
"""

from rising_bandits.testing.oracles import ORACLE_CHECKS, check_oracle
from rising_bandits.testing.policies import POLICY_CHECKS, check_policy

__all__ = ["ORACLE_CHECKS", "POLICY_CHECKS", "check_oracle", "check_policy"]
