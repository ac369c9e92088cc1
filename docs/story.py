"""Draw the picture of the README: a route that gets better with practice, and two policies that choose it.

python docs/story.py      writes docs/images/story.png, and story-dark.png for readers with a dark page

Run it again when the recommended policy changes. What the picture shows is noted in docs/data/pictures.json,
and a test compares that with the policy of today.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import rising_bandits as rb
from rising_bandits.cli.demo import commute
from rising_bandits.plots import style, theme

IMAGES = Path(__file__).parent / "images"
NOTES = Path(__file__).parent / "data" / "pictures.json"
KNOWN, LEARNT = "#777777", "#D55E00"


def note(picture: str, **shown: Any) -> None:
    """Note what a picture shows, and what drew it."""
    notes = json.loads(NOTES.read_text(encoding="utf-8")) if NOTES.exists() else {}
    notes[picture] = shown
    NOTES.write_text(json.dumps(dict(sorted(notes.items())), indent=1) + "\n", encoding="utf-8")


def draw(path: Path) -> list[Path]:
    """Draw the roads, how good they become, and what two policies earn."""
    task = commute()
    best = rb.optimal_constant(task)
    with style.figures(9.6, 3.1, widths=(0.9, 1.0, 1.0)) as (drawing, (roads, curves, days)):
        places = {"home": (0.0, 0.5), "bridge": (0.5, 1.0), "tunnel": (0.5, 0.0), "work": (1.0, 0.5)}
        for by, colour in (("bridge", KNOWN), ("tunnel", LEARNT)):
            across, up = zip(places["home"], places[by], places["work"], strict=True)
            roads.plot(across, up, color=colour, linewidth=4, zorder=1)
        for name, (x, y) in places.items():
            roads.scatter([x], [y], s=1650, color="white", edgecolor="#444444", zorder=2)
            roads.text(x, y, name, ha="center", va="center", zorder=3)
        roads.set(xlim=(-0.2, 1.2), ylim=(-0.3, 1.3))
        roads.axis("off")
        roads.set_title("Choose a route every day")

        plays = np.arange(600)
        known, learnt = task.curves[0], task.curves[2]
        curves.plot(plays, known(plays), color=KNOWN, linewidth=2.4)
        curves.plot(plays, learnt(plays), color=LEARNT, linewidth=2.4)
        curves.text(590, 0.57, "bridge", color=KNOWN, ha="right", va="top")
        curves.text(590, 0.91, "tunnel", color=LEARNT, ha="right", va="bottom")
        curves.set(xlabel="times taken", ylabel="how good a road is", ylim=(0, 1))
        curves.set_title("The tunnel needs practice")

        compared = ((rb.policies.recommended(task.problem, task.horizon), "#009E73"), (rb.SWCUCB(), "#0072B2"))
        ends = []
        for policy, colour in compared:
            run = rb.simulate(task, policy, seed=0)
            share = 100 * run.regret / best.total
            days.plot(run.rounds, share, color=colour, linewidth=2.4)
            ends.append((share[-1], "sliding window" if isinstance(policy, rb.SWCUCB) else "recommended", colour))
        for share, name, colour in ends:
            days.text(
                task.horizon * 1.03, share, f"{name}\nlost {share:.0f}%", color=colour, va="center", clip_on=False
            )
        days.axhline(0, color="#444444", linewidth=0.8)
        days.set(xlabel="day", ylabel="lost so far, % of the optimum", xlim=(0, task.horizon))
        days.set_xticks([0, 500, 1000, 1500])
        days.set_title("Who looks ahead loses less")
        lost = {name: f"{share:.0f}%" for share, name, _ in ends}
        note("story.png", command="python docs/story.py", policy=repr(compared[0][0]), lost=lost)
        return style.save(drawing, path)


if __name__ == "__main__":
    for name, dark in (("story", False), ("story-dark", True)):
        with theme(dark=dark, formats=["png"]):
            draw(IMAGES / f"{name}.png")
