"""Combinatorial rising bandits: decisions made of parts that get better with practice.

>>> import rising_bandits as rb
>>> run = rb.simulate(rb.tasks.get("path-easy"), rb.CRUCB(sigma=0.01), horizon=1_000, seed=0)
>>> int(run.rounds[-1])
1000
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rising_bandits import curves, oracles, policies, problems, theory
from rising_bandits.errors import (
    AlreadyToldError,
    ExpiredError,
    InfeasibleError,
    InputError,
    MissingExtraError,
    NotStartedError,
    RisingBanditsError,
    SigmaWarning,
    StorageError,
    StudyGoneError,
    TooManySuperArmsError,
)
from rising_bandits.policies import (
    CRUCB,
    SWCTS,
    SWCUCB,
    SWTS,
    SWUCB,
    HorizonCRUCB,
    IndexPolicy,
    Oracle,
    Policy,
    Random,
    RedUCB,
    Tour,
)
from rising_bandits.problems import Problem, Reward, Task, tasks
from rising_bandits.simulation import Run, Simulation, identify, simulate
from rising_bandits.theory import OptimalConstant, optimal_constant

if TYPE_CHECKING:
    from rising_bandits import antmaze as antmaze
    from rising_bandits import plots as plots
    from rising_bandits import studies as studies

__version__ = "0.1.0"

__all__ = [
    "CRUCB",
    "SWCTS",
    "SWCUCB",
    "SWTS",
    "SWUCB",
    "AlreadyToldError",
    "ExpiredError",
    "HorizonCRUCB",
    "IndexPolicy",
    "InfeasibleError",
    "InputError",
    "MissingExtraError",
    "NotStartedError",
    "OptimalConstant",
    "Oracle",
    "Policy",
    "Problem",
    "Random",
    "RedUCB",
    "Reward",
    "RisingBanditsError",
    "Run",
    "SigmaWarning",
    "Simulation",
    "StorageError",
    "StudyGoneError",
    "Task",
    "TooManySuperArmsError",
    "Tour",
    "curves",
    "identify",
    "optimal_constant",
    "oracles",
    "policies",
    "problems",
    "simulate",
    "tasks",
    "theory",
]

_ON_DEMAND = ("antmaze", "benchmark", "experiments", "plots", "studies", "testing")
"""Rooms that load large packages, or that need an extra: imported when they are first named."""


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return import_module(f"rising_bandits.{name}")
    raise AttributeError(f"module 'rising_bandits' has no attribute {name!r}")
