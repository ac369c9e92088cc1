"""Choose plans of skills that improve with practice: ``python -m rising_bandits.examples.planning``."""

from __future__ import annotations

from rising_bandits.curves import Flat, Gaussian, Linear
from rising_bandits.examples.compare import main
from rising_bandits.problems import ShortestPath, Task

STAGES = (
    ("search the web", "ask the library"),
    ("read in full", "skim and quote"),
    ("write at once", "outline first"),
    ("read again", "run the tests", "ask a reviewer"),
)
PRACTISED = ("ask the library", "skim and quote", "outline first", "run the tests")
TITLE = "Plans of four skills"
HORIZONS = (2_000, 20_000)


def problem() -> ShortestPath:
    """A plan uses one skill per stage. Its reward is the product of the outcomes.

    >>> problem()
    ShortestPath(9 base arms, super arms of up to 4, product reward)
    """
    edges = [
        (f"stage {number}", f"stage {number + 1}", skill) for number, stage in enumerate(STAGES) for skill in stage
    ]
    return ShortestPath(edges, "stage 0", f"stage {len(STAGES)}", reward="product")


def task(world: int = 0) -> Task:
    """Known skills have a mean of 0.8. Skills that need practice start at 0.3 and reach 0.97 after 2000 uses.

    Feedback is cascading: a step with an outcome of 0 ends the plan, and the steps after it do not count as played.

    Parameters
    ----------
    world
        Not used: the curves are the same in all worlds, only the noise differs.
    """
    curves = [Linear(2_000, start=0.3, end=0.97) if label in PRACTISED else Flat(0.8) for label in problem().labels]
    return Task("planning", problem(), tuple(curves), HORIZONS[-1], Gaussian(0.05), cascade=True)


if __name__ == "__main__":
    main(task, HORIZONS, TITLE, __doc__ or "")
