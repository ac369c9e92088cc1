"""Figures for tasks of one's own: names, titles that fit, many arms, and a film."""

from __future__ import annotations

import pytest

import rising_bandits as rb
from rising_bandits import plots
from rising_bandits.curves import Exponential, Flat
from rising_bandits.plots.animation import frames_of
from rising_bandits.plots.structure import draw_curves, draw_structure
from rising_bandits.plots.style import figure, looks, wrapped


def suppliers(size=12):
    names = [f"supplier number {k + 1} of the region" for k in range(size)]
    curves = tuple(Flat(0.4 + 0.01 * k) if k % 3 else Exponential(time=50.0, end=0.5 + 0.01 * k) for k in range(size))
    return rb.Task("suppliers", rb.problems.TopK(names, 2), curves, horizon=200)


def overlaps(axes, drawing):
    """Pairs of texts of some axes that overlap."""
    drawing.canvas.draw()
    boxes = [text.get_window_extent().shrunk(0.9, 0.9) for text in axes.texts if text.get_text()]
    return [(a, b) for place, a in enumerate(boxes) for b in boxes[place + 1 :] if a.overlaps(b)]


@pytest.mark.parametrize("draw", [draw_structure, draw_curves])
@pytest.mark.parametrize("size", [12, 40])
def test_many_arms_do_not_overlap(draw, size):
    with figure(3.6, 3.5) as (drawing, axes):
        draw(axes, suppliers(size))
        assert not overlaps(axes, drawing)


def test_policies_of_one_figure_look_different_and_have_names():
    labels = ["crucb", *(f"sw-cucb(window={k})" for k in range(5)), *(f"mine:Cure(k={k})" for k in range(5))]
    found = looks(labels)
    assert len({(look.colour, look.line) for look in found.values()}) == len(labels)
    assert plots.title("mine:Cure(k=3)") == "Cure (k=3)"


def test_titles_are_not_cut():
    text = "suppliers that learn, with a rather long name: mean and 99% t-interval over 5 seeds"
    with figure(3.4, 3.0) as (drawing, axes):
        title = axes.set_title(wrapped(text, 2.6))
        drawing.canvas.draw()
        assert title.get_window_extent().x1 <= drawing.bbox.x1
    assert wrapped(text, 2.6).split() == text.split()


def test_a_run_becomes_a_film(tmp_path):
    run = rb.simulate(suppliers(), rb.Random(), horizon=200, seed=0, compiled=False)
    film = plots.animate_run(run, tmp_path / "film.gif", frames=4)
    from PIL import Image

    with Image.open(film) as picture:
        assert picture.n_frames == len(frames_of(run.rounds, 4)) == 4
    page = plots.animate_run(run, tmp_path / "film.html", frames=3)
    assert "<script" in page.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["film.gif", "film.html"]
    with pytest.raises(rb.InputError, match=r"must end with .gif or .html"):
        plots.animate_run(run, tmp_path / "film.mp4")
