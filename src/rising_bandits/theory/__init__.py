"""The paper's theory as code: optimal rewards, regret bounds, the instances of the proofs, and diagnostics of logs."""

from rising_bandits.theory import instances
from rising_bandits.theory.bounds import UpperBound, lower_bound, lower_rate, upper_bound, upper_rate, upsilon
from rising_bandits.theory.diagnose import diagnose
from rising_bandits.theory.diagnosis import Diagnosis
from rising_bandits.theory.optimum import OptimalConstant, optimal_constant
from rising_bandits.theory.policy import OptimalPolicy, optimal_policy

__all__ = [
    "Diagnosis",
    "OptimalConstant",
    "OptimalPolicy",
    "UpperBound",
    "diagnose",
    "instances",
    "lower_bound",
    "lower_rate",
    "optimal_constant",
    "optimal_policy",
    "upper_bound",
    "upper_rate",
    "upsilon",
]
