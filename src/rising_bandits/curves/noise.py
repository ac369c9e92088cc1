"""What is added to a mean: nothing, clipped Gaussian noise, a coin flip, or failures.

A noise model is a class, and a state with a registered `sample`, which can be compiled. Your own model is a subclass of
`Noise` with a method ``sample``; it runs in plain Python. A model with neither is refused when a task is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from rising_bandits import _checks
from rising_bandits._compile import compilable, operation
from rising_bandits.curves.curve import Curve, check_curves
from rising_bandits.curves.draws import normal, uniform
from rising_bandits.errors import InputError


@operation
def sample(state: Any, arm: int, play: int, mean: float, word: int) -> float:
    """The outcome of a play, in [0, 1].

    Parameters
    ----------
    arm, play
        The arm, and how many plays it had before.
    mean
        The mean of this play.
    word
        A random number of 63 bits that belongs to this arm, play and seed. `uniform`, `normal` and `another` of
        `rising_bandits.curves.draws` turn it into what a model needs.
    """
    raise NotImplementedError


@dataclass(frozen=True)
class Noise:
    """Base of noise models: ``sigma`` is what a policy is told, ``sample`` draws an outcome.

    >>> from rising_bandits.curves.draws import uniform
    >>> class Coarse(Noise):
    ...     '''Rounds the mean up or down to a tenth.'''
    ...     sigma = 0.05
    ...     def sample(self, arm, play, mean, word):
    ...         return min(1.0, int(10 * mean + uniform(word)) / 10)
    >>> Coarse().state().sample(0, 0, 0.52, 0)
    0.5
    """

    @property
    def sigma(self) -> float:
        """The subgaussian constant of an outcome around its mean."""
        raise NotImplementedError

    def check(self, n_arms: int) -> None:
        """Check that the model fits a problem.

        Parameters
        ----------
        n_arms
            The number of base arms.

        Raises
        ------
        InputError
            The model is for another number of base arms.
        """

    def state(self) -> Any:
        """What outcomes are drawn with: a NamedTuple for which `sample` is registered, or a checked Python object."""
        if not callable(getattr(self, "sample", None)):
            raise InputError(
                f"noise must say how an outcome is drawn: give {type(self).__name__} a method "
                "sample(arm, play, mean, word), or use Noiseless, Gaussian, Bernoulli or Failing"
            )
        return OwnNoise(self)


class OwnNoise:
    """A user's own noise model. What it returns is checked before a policy learns it."""

    def __init__(self, noise: Any) -> None:
        self._noise = noise

    def sample(self, arm: int, play: int, mean: float, word: int) -> float:
        """The outcome that the user's model draws; an outcome outside [0, 1] is an error."""
        wanted = f"what {type(self._noise).__name__}.sample returns must be a number in [0, 1]"
        return _checks.returned(wanted, self._noise.sample(int(arm), int(play), float(mean), int(word)), high=1.0)


def check_noise(noise: object, n_arms: int) -> None:
    """Check that a noise model can draw outcomes for so many arms."""
    if not isinstance(noise, Noise):
        raise InputError(f"noise must be a noise model such as Gaussian(0.01), got {noise!r}")
    _checks.number(f"sigma of {type(noise).__name__}", noise.sigma, low=0.0)
    noise.check(n_arms)
    if isinstance(noise, Failing):
        return
    state = noise.state()
    if not sample.handles(state) or (isinstance(state, tuple) and not compilable(state)):
        raise InputError(
            f"noise must be drawn by a NamedTuple of numbers and arrays with a registered sample, got {state!r}"
        )


class Exact(NamedTuple):
    """State of `Noiseless`."""

    sigma: float


class Normal(NamedTuple):
    """State of `Gaussian`."""

    sigma: float


class Coin(NamedTuple):
    """State of `Bernoulli`."""

    sigma: float


@sample.register(Exact)
def _exact(state: Exact, arm: int, play: int, mean: float, word: int) -> float:
    return mean


@sample.register(Normal)
def _normal(state: Normal, arm: int, play: int, mean: float, word: int) -> float:
    return min(1.0, max(0.0, mean + state.sigma * normal(word)))


@sample.register(Coin)
def _coin(state: Coin, arm: int, play: int, mean: float, word: int) -> float:
    return 1.0 if uniform(word) < mean else 0.0


@dataclass(frozen=True)
class Noiseless(Noise):
    """The outcome is the mean.

    >>> Noiseless().sigma
    0.0
    """

    @property
    def sigma(self) -> float:
        return 0.0

    def state(self) -> Exact:
        return Exact(0.0)


@dataclass(frozen=True)
class Gaussian(Noise):
    """Gaussian noise, the outcome clipped to [0, 1].

    Means and regret are those of the curve, before clipping. Clipping changes the mean of an outcome only if the curve
    is within about two deviations of 0 or 1, and by less than one deviation.

    Parameters
    ----------
    deviation
        The standard deviation before clipping, at least 0.

    >>> Gaussian(0.01).sigma
    0.01
    """

    deviation: float = 0.01

    def __post_init__(self) -> None:
        _checks.number("deviation", self.deviation, low=0.0)

    @property
    def sigma(self) -> float:
        return float(self.deviation)

    def state(self) -> Normal:
        return Normal(float(self.deviation))


@dataclass(frozen=True)
class Bernoulli(Noise):
    """1 with the mean as its chance, else 0; subgaussian with constant 1/2 (Hoeffding).

    >>> Bernoulli().sigma
    0.5
    """

    @property
    def sigma(self) -> float:
        return 0.5

    def state(self) -> Coin:
        return Coin(0.5)


@dataclass(frozen=True)
class Failing(Noise):
    """A try fails and brings 0, or succeeds and brings the mean divided by the chance of success.

    With cascading feedback a failure ends the round. Expected rewards need the chances and not only the means, so
    a simulation has an environment of its own for this model (`rising_bandits.simulation.environment`).

    Parameters
    ----------
    chances
        A curve per arm: the chance of success by plays.
    told
        The subgaussian constant that policies are told, which need not be true.

    >>> from rising_bandits.curves import Flat
    >>> Failing((Flat(0.5),), told=0.1).sigma
    0.1
    """

    chances: tuple[Curve, ...]
    told: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "chances", check_curves("chances", self.chances))
        _checks.number("told", self.told, low=0.0)

    def check(self, n_arms: int) -> None:
        if len(self.chances) != n_arms:
            raise InputError(f"chances must hold one curve per base arm, {n_arms}, got {len(self.chances)}")

    @property
    def sigma(self) -> float:
        return float(self.told)
