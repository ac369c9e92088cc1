"""How the low-level agent learns: every number in one frozen, comparable place, with two presets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self, cast

from rising_bandits import _checks
from rising_bandits.antmaze.mazes import Maze
from rising_bandits.errors import InputError

VIEWS = ("symmetric", "plain")
INTEGRATORS = ("RK4", "implicitfast", "Euler")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Goal-conditioned TD3 (Fujimoto et al., 2018) with hindsight (Andrychowicz et al., 2017).

    The defaults are the preset ``cpu``, chosen for one core; the guide to AntMaze tells how.

    >>> Settings(batch=128).batch
    128
    """

    view: str = "symmetric"
    """What the networks see: ``symmetric`` (from the body, eight symmetric situations as one), or ``plain``."""
    feel: float = 3.0
    """How far from its torso the ant feels walls, in eight directions; 0 for not at all."""
    hidden: tuple[int, ...] = (128, 128)
    layer_norm: bool = True
    """Whether the critics normalise their hidden layers."""
    actor_rate: float = 1e-3
    critic_rate: float = 1e-3
    discount: float = 0.98
    n_step: int = 5
    """Rewards of so many steps come before the critic's own estimate."""
    polyak: float = 0.995
    """What the target networks keep of themselves at each of their updates."""
    polyak_every: int = 1
    actor_every: int = 2
    batch: int = 256
    lowest: float = -50.0
    """Targets are clipped to [lowest, 0]; -1 / (1 - discount) is the least that can be true."""
    smooth: float = 0.2
    """Deviation of the noise on target actions, cut at two and a half deviations."""
    noise: float = 0.1
    """Deviation of the noise on actions, as a share of the largest torque."""
    random_share: float = 0.2
    """Share of actions that are uniformly random, at first."""
    random_share_end: float = 0.01
    """The same once ``random_successes`` edges were reached."""
    random_successes: int = 300
    """Edges reached while the share of random actions falls: an ant that does not walk yet goes on exploring."""
    hold: int = 5
    """Steps for which a random action is held, to move the ant further."""
    penalty: float = 1.0
    """Weight of the squared action in the actor's loss: with little, torques go to their ends and walking is late."""
    relabel: float = 0.8
    """Share of goals replaced by a place reached later in the same episode."""
    relabel_within: int = 100
    """At most so many steps later."""
    reach: float = 2.0
    """While acting, a goal further away than this is pulled to this distance."""
    steps_per_update: int = 3
    chunk: int = 10
    """Updates compiled into one call."""
    warm_up: int = 50
    """Episodes of random actions before the first episode that counts."""
    integrator: str = "RK4"

    def __post_init__(self) -> None:
        for name, choices in (("view", VIEWS), ("integrator", INTEGRATORS)):
            if getattr(self, name) not in choices:
                raise InputError(f"{name} must be one of {', '.join(choices)}, got {getattr(self, name)!r}")
        if not isinstance(cast(object, self.hidden), tuple | list) or not isinstance(self.layer_norm, bool):
            raise InputError(
                "hidden must be sizes of layers, as in (128, 128), and layer_norm True or False, "
                f"got {self.hidden!r} and {self.layer_norm!r}"
            )
        object.__setattr__(self, "hidden", tuple(_checks.integer("hidden", size, low=1) for size in self.hidden))
        for name in ("n_step", "polyak_every", "actor_every", "batch", "relabel_within", "steps_per_update", "chunk"):
            _checks.integer(name, getattr(self, name), low=1)
        for name in ("warm_up", "hold", "random_successes"):
            _checks.integer(name, getattr(self, name), low=1)
        for name in ("actor_rate", "critic_rate", "reach"):
            _checks.number(name, getattr(self, name), low=0.0, open_low=True)
        for name in ("discount", "polyak", "random_share", "random_share_end", "relabel"):
            _checks.number(name, getattr(self, name), low=0.0, high=1.0)
        for name in ("smooth", "noise", "penalty", "feel"):
            _checks.number(name, getattr(self, name), low=0.0)
        _checks.number("lowest", self.lowest, high=0.0, open_high=True)

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "hidden": list(self.hidden)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The inverse of `as_dict`."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(data) - known):
            raise InputError(f"settings know {', '.join(sorted(known))}, got {', '.join(unknown)}")
        return cls(**{**data, **({"hidden": tuple(data["hidden"])} if "hidden" in data else {})})


CPU = Settings()
PAPER = Settings(
    view="plain",
    feel=0.0,
    hidden=(256, 256),
    layer_norm=False,
    actor_rate=1e-4,
    critic_rate=1e-3,
    discount=0.99,
    n_step=1,
    polyak_every=10,
    batch=1024,
    lowest=-80.0,
    random_share_end=0.2,
    penalty=0.01,
    steps_per_update=1,
    warm_up=200,
    hold=1,
)
PRESETS = {"cpu": CPU, "paper": PAPER}


def preset(name: str, maze: Maze) -> Settings:
    """A preset for a maze: ``paper`` has 200 random episodes first on the easy maze and 500 on the complex one.

    >>> from rising_bandits.antmaze.mazes import COMPLEX
    >>> preset("paper", COMPLEX).warm_up
    500
    """
    if name not in PRESETS:
        raise InputError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}")
    if name == "paper" and maze.name == "complex":
        return replace(PAPER, warm_up=500)
    return PRESETS[name]
