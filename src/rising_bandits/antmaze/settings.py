"""The settings of the low-level agent, with three presets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self, cast

from rising_bandits import _checks
from rising_bandits.antmaze.maze import Maze
from rising_bandits.errors import InputError

VIEWS = ("symmetric", "plain")
"""The values of ``view``."""
INTEGRATORS = ("RK4", "implicitfast", "Euler")
"""The values of ``integrator``."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of goal-conditioned TD3 (Fujimoto et al., 2018) with hindsight (Andrychowicz et al., 2017).

    The defaults are the preset ``cpu``, which was chosen for training on one core.

    Parameters
    ----------
    view
        What the networks see: ``symmetric`` (seen from the body, with eight symmetric situations mapped to one) or
        ``plain``.
    feel
        How far from its torso the ant feels walls, in eight directions; 0 for not at all.
    hidden
        The sizes of the hidden layers.
    layer_norm
        Whether the critics normalise their hidden layers.
    actor_rate, critic_rate
        The learning rates of the actor and of the critics.
    discount
        The discount per step.
    n_step
        How many steps of rewards a target sums before it uses the critics' own estimate.
    polyak
        The share of their old weights that the target networks keep at an update.
    polyak_every
        How many updates of the critics there are for one update of the target networks.
    actor_every
        How many updates of the critics there are for one update of the actor.
    batch
        The number of transitions in an update.
    lowest
        Targets are clipped to [lowest, 0]. The smallest possible value is -1 / (1 - discount).
    smooth
        The standard deviation of the noise on target actions, which is clipped at 2.5 deviations.
    noise
        The standard deviation of the noise on actions, as a share of the largest torque.
    random_share
        The share of actions that are uniformly random at the start.
    random_share_end
        The same share after ``random_successes`` successful tries of edges.
    random_successes
        How many successful tries it takes until the share has fallen to ``random_share_end``. An ant that does not
        walk yet thus goes on exploring.
    hold
        How many steps a random action is held; longer actions move the ant further.
    penalty
        The weight of the squared action in the actor's loss. With a small weight most torques are at their limits and
        the ant learns to walk later.
    relabel
        The share of goals that are replaced by a position reached later in the same episode.
    relabel_within
        How many steps later at most.
    upright
        Whether an ant on its back counts as lost in learning: once its torso is upside down, the value of every goal is
        ``lowest``. The maze itself does not change; an ant that gets up in time can still succeed.
    reach
        When the ant acts, a goal that is farther away than this is moved to this distance.
    steps_per_update
        How many steps of the ant there are for one update.
    chunk
        How many updates are compiled into one call.
    warm_up
        How many episodes of random actions there are before the first episode.
    integrator
        MuJoCo's integrator: ``RK4``, ``implicitfast`` or ``Euler``.

    Raises
    ------
    InputError
        A setting is wrong.

    >>> Settings(batch=128).batch
    128
    """

    view: str = "symmetric"
    feel: float = 3.0
    hidden: tuple[int, ...] = (128, 128)
    layer_norm: bool = True
    actor_rate: float = 1e-3
    critic_rate: float = 1e-3
    discount: float = 0.98
    n_step: int = 5
    polyak: float = 0.995
    polyak_every: int = 1
    actor_every: int = 2
    batch: int = 256
    lowest: float = -50.0
    smooth: float = 0.2
    noise: float = 0.1
    random_share: float = 0.2
    random_share_end: float = 0.01
    random_successes: int = 300
    hold: int = 5
    penalty: float = 1.0
    relabel: float = 0.8
    relabel_within: int = 100
    upright: bool = False
    reach: float = 2.0
    steps_per_update: int = 3
    chunk: int = 10
    warm_up: int = 50
    integrator: str = "RK4"

    def __post_init__(self) -> None:
        for name, choices in (("view", VIEWS), ("integrator", INTEGRATORS)):
            if getattr(self, name) not in choices:
                raise InputError(f"{name} must be one of {', '.join(choices)}, got {getattr(self, name)!r}")
        if not isinstance(cast(object, self.hidden), tuple | list):
            raise InputError(f"hidden must be sizes of layers, as in (128, 128), got {self.hidden!r}")
        for name in ("layer_norm", "upright"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} must be True or False, got {getattr(self, name)!r}")
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
        """The settings as plain data, ready for JSON."""
        return {**asdict(self), "hidden": list(self.hidden)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Settings from plain data; missing ones have their defaults.

        Parameters
        ----------
        data
            What `as_dict` returned.

        Raises
        ------
        InputError
            A setting is not known or wrong.
        """
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(data) - known):
            raise InputError(f"settings must be some of {', '.join(sorted(known))}, got {', '.join(unknown)}")
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
UPRIGHT = replace(CPU, upright=True)
PRESETS = {"cpu": CPU, "upright": UPRIGHT, "paper": PAPER}
"""The presets by name: ``cpu`` for one core, ``upright``, which is ``cpu`` with the setting of this name, and ``paper``
with the settings of the paper."""


def preset(name: str, maze: Maze) -> Settings:
    """The settings of a preset for a maze.

    The preset ``paper`` has a warm-up of 500 episodes on the complex maze and of 200 on others.

    Parameters
    ----------
    name
        A name from `PRESETS`.
    maze
        The maze.

    Raises
    ------
    InputError
        There is no such preset.

    >>> from rising_bandits.antmaze.mazes import COMPLEX
    >>> preset("paper", COMPLEX).warm_up
    500
    """
    if name not in PRESETS:
        raise InputError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}")
    if name == "paper" and maze.name == "complex":
        return replace(PAPER, warm_up=500)
    return PRESETS[name]
