"""Figures for tasks of one's own: names, titles that fit, many arms, and a film."""

from __future__ import annotations

from colorsys import rgb_to_hsv

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.text import Text

import rising_bandits as rb
from rising_bandits import plots
from rising_bandits.curves import Exponential, Flat
from rising_bandits.experiments import Band, Comparison, compare, make_plan, run_plan
from rising_bandits.experiments.ranks import Ranks
from rising_bandits.plots import style
from rising_bandits.plots.animation import frames_of
from rising_bandits.plots.looks import look, looks
from rising_bandits.plots.names import shortened, wrapped
from rising_bandits.plots.regret import draw_regret
from rising_bandits.plots.structure import draw_curves, draw_structure
from rising_bandits.plots.style import figure, theme


def suppliers(size=12, names=None):
    names = names or [f"supplier number {k + 1} of the region" for k in range(size)]
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


def test_names_that_are_cut_stay_different():
    for form in ("the long name of supplier {}", "supplier number {} of the region", "{} is far too long a name"):
        names = [form.format(k + 1) for k in range(12)]
        cut = shortened(names, 18)
        assert len(set(cut)) == 12
        assert max(map(len, cut)) <= 18
        for draw in (draw_curves, draw_structure):
            with figure(3.6, 3.5) as (_, axes):
                draw(axes, suppliers(names=names))
                assert len({text.get_text() for text in axes.texts if "any " not in text.get_text()}) == 12
    assert shortened(["a" * 9, "a" * 9, "b"], 5) == ["aa…aa", "aa…aa", "b"]
    assert shortened([], 5) == []


def bands_of(*finals):
    """Regret that begins below 0 and rises to the given values, for policies with long names."""
    rounds = np.arange(1, 1_001)
    shape = (rounds / 1_000) ** 2 - 0.02 * np.sin(np.pi * rounds / 1_000)
    return {
        f"mine:AVeryLongName(parameter={k}, another='some text')": Band(rounds, f * shape, f * shape, f * shape, 5)
        for k, f in enumerate(finals)
    }


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("width", [3.4, 6.4])
def test_long_names_leave_the_lines_their_room(log, width):
    with figure(width, 0.7 * width) as (drawing, axes):
        axes.tick_params(labelsize=7)
        letters = 20 if width < 5 else 26
        draw_regret(axes, bands_of(100.0, 99.0, 98.0, 1.0), "mine", log=log, log_rounds=log, letters=letters)
        for text in axes.texts:
            text.set_fontsize(7 if width < 5 else 10)
        assert not overlaps(axes, drawing)
        right = max(text.get_window_extent().x1 for text in axes.texts)
        assert right <= drawing.bbox.x1 + 1
        # At least two fifths of the width are for the lines, and every line is seen to rise.
        assert axes.bbox.width > 0.4 * drawing.bbox.width
        low, high = axes.get_ylim()
        assert all(low < line <= high for line in (1.0, 100.0))
        if log:
            assert 0 < low < 0.5
            assert axes.get_xlim()[0] < 200


def test_logarithmic_axes_begin_where_lines_are_seen_and_have_plain_numbers():
    rounds = np.arange(1, 3_001)
    lines = {"crucb": 1.0 * rounds, "oracle": 0.0 * rounds}
    bands = {label: Band(rounds, line, line, line, 5) for label, line in lines.items()}
    with theme(width=3.4), figure(6.4, 4.0) as (drawing, axes):
        draw_regret(axes, bands, "mine", log=True, log_rounds=True, size=7.5, inches=2.8)
        drawing.draw_without_rendering()
        # The best constant super arm loses nothing, so its line is not seen at all.
        assert axes.get_xlim()[0] > 80
        for axis in (axes.xaxis, axes.yaxis):
            shown = [text for text in axis.get_ticklabels(which="both") if text.get_text()]
            low, high = axis.get_view_interval()
            inside = [text for place, text in zip(axis.get_majorticklocs(), shown, strict=True) if low <= place <= high]
            assert len(inside) >= 3
            assert all(float(text.get_text()) > 0 for text in inside)
            boxes = [text.get_window_extent() for text in inside]
            assert not any(a.overlaps(b) for place, a in enumerate(boxes) for b in boxes[place + 1 :])


@pytest.mark.parametrize("width", [3.4, 7.2])
def test_twelve_mean_ranks_have_room_in_a_column(width, tmp_path, monkeypatch):
    labels = ["crucb", "oracle", *(f"mine:AVeryLongName(parameter={k}, more=0.25)" for k in range(10))]
    ranks = Ranks({label: 1.0 + place for place, label in enumerate(labels)}, 5, "seed", 6.0, 0.01)
    drawn = []
    monkeypatch.setattr("rising_bandits.plots.comparison.save", lambda drawing, path: drawn.append(drawing) or [])
    with theme(width=width):
        plots.plot_critical_difference(Comparison([], ranks, "crucb", "regret", 0.95, "t"), tmp_path / "ranks")
    (axes,) = drawn[0].axes
    assert not overlaps(axes, drawn[0])
    boxes = [text.get_window_extent() for text in axes.texts]
    assert min(box.x0 for box in boxes) >= -1
    assert max(box.x1 for box in boxes) <= drawn[0].bbox.x1 + 1
    # A quarter of the width is for the ranks.
    left, right = axes.transData.transform([(1, 0), (len(labels), 0)])[:, 0]
    assert right - left > 0.25 * drawn[0].bbox.width


def test_names_with_dollars_are_no_formulas(tmp_path):
    names = ["from $5 to $10", "$\\frac{$", "under $5"]
    curves = (Flat(0.1), Flat(0.2), Exponential(time=20.0, end=0.7))
    task = rb.Task("all of $\\frac{$", rb.problems.TopK(names, 1), curves, horizon=30)
    with figure(3.6, 3.5) as (drawing, axes):
        for draw in (draw_structure, draw_curves):
            draw(axes, task)
        bands = bands_of(10.0)
        draw_regret(axes, {label.replace("text", "$\\frac{$"): band for label, band in bands.items()}, task.name)
        drawing.draw_without_rendering()
    run = rb.simulate(task, rb.SWCUCB(), seed=0, compiled=False)
    assert plots.animate_run(run, tmp_path / "film.gif", frames=2).exists()
    ranks = Ranks({"mine:P(a='$\\frac{$')": 1.0, "crucb": 2.0}, 5, "seed", 0.5, 0.01)
    found = Comparison([], ranks, "crucb", "regret", 0.95, "t")
    assert len(plots.plot_critical_difference(found, tmp_path / "ranks")) == 2


def test_policies_of_one_figure_look_different_and_have_names():
    labels = ["crucb", *(f"sw-cucb(window={k})" for k in range(5)), *(f"mine:Cure(k={k})" for k in range(5))]
    found = looks(labels)
    assert len({(look.colour, look.line) for look in found.values()}) == len(labels)
    assert plots.title("mine:Cure(k=3)") == "Cure (k = 3)"


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


def comparison(tmp_path):
    plan = make_plan(["toy"], ["recommended", "crucb(epsilon=0.25, upward=True)", "sw-cucb"], seeds=2, horizon=300)
    return run_plan(plan, tmp_path / "runs", workers=1)


def test_a_path_may_be_a_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = comparison(tmp_path)
    made = plots.plot_regret(runs, "toy", "regret.PDF")
    made += plots.plot_overview(runs, "toy", "overview.png")
    made += plots.plot_critical_difference(compare(runs), "ranks")
    # Digits after a point belong to the name: two figures of a study of parameters are two files.
    made += plots.plot_regret(runs, "toy", "epsilon-0.25", log="xy")
    names = ["regret.pdf", "overview.png", "overview.svg", "ranks.png", "ranks.svg"]
    assert [str(path) for path in made] == [*names, "epsilon-0.25.png", "epsilon-0.25.svg"]
    assert all(path.stat().st_size > 1_000 for path in made)
    with pytest.raises(rb.InputError, match="path must be a file"):
        plots.plot_regret(runs, "toy", "")


def test_regret_without_runs_or_with_wrong_axes_is_refused(tmp_path):
    runs = comparison(tmp_path)
    with pytest.raises(rb.InputError, match="runs must hold runs on 'k-max', but they are on toy"):
        plots.plot_regret(runs, "k-max", "regret.png")
    with pytest.raises(rb.InputError, match="log must be x, y or xy, got True"):
        plots.plot_regret(runs, "toy", "regret.png", log=True)


def outside(drawing):
    """Texts of a figure that reach beyond its edges."""
    drawing.canvas.draw()
    page = drawing.bbox.padded(2)
    found = [text for text in drawing.findobj(Text) if text.get_visible() and text.get_text().strip()]
    boxes = {text.get_text(): text.get_window_extent() for text in found}
    return [name for name, box in boxes.items() if not (page.x0 <= box.x0 and box.x1 <= page.x1 and box.y1 <= page.y1)]


def test_a_theme_makes_every_figure_narrow_and_writes_vectors(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        style, "_shrink", lambda drawing, shrink=style._shrink: (shrink(drawing), drawn.append(drawing))
    )
    runs = comparison(tmp_path)
    with plots.theme(width=3.4, formats=("svg", "pdf")):
        made = plots.plot_regret(runs, "toy", tmp_path / "regret.png")
        made += plots.plot_overview(runs, "toy", tmp_path / "overview.png")
        made += plots.plot_critical_difference(compare(runs), tmp_path / "ranks.png")
    assert [path.suffix for path in made] == [".svg", ".pdf"] * 3
    for drawing in drawn:
        assert drawing.get_figwidth() == 3.4
        assert not outside(drawing)
    # Panels stand below each other.
    assert len({round(axes.get_position().x0, 1) for axes in drawn[1].axes}) == 1
    assert style.current() == style.Theme()


def test_dark_figures_keep_their_hues_and_their_contrast(tmp_path):
    from PIL import Image

    runs = comparison(tmp_path)
    with plots.theme(dark=True):
        plots.plot_regret(runs, "toy", tmp_path / "dark.png")
    plots.plot_regret(runs, "toy", tmp_path / "light.png")
    dark, light = (np.asarray(Image.open(tmp_path / f"{name}.png").convert("L")) for name in ("dark", "light"))
    assert np.median(dark) < 40
    assert dark.max() > 240
    # What was drawn stands out as much as before.
    assert abs((dark > 120).mean() - (light < 160).mean()) < 0.02
    for colour in ("#D55E00", "#0072B2", "#009E73", "#5E3C99"):
        hue = [rgb_to_hsv(*to_rgba(one)[:3])[0] for one in (colour, style.dark_of(colour))]
        assert abs(hue[0] - hue[1]) < 0.03
    assert style.dark_of(style.dark_of("#ffffff")[:3])[0] > 0.9


@pytest.mark.parametrize(("given", "words"), [({"width": 1.0}, "width"), ({"formats": ["bmp"]}, "png, svg, pdf")])
def test_a_wrong_theme_is_refused(given, words):
    with pytest.raises(rb.InputError, match=words), plots.theme(**given):
        pass


def test_names_in_figures_are_not_python():
    assert plots.title("crucb(epsilon=0.25, upward=True)") == "CRUCB (ε = 0.25, upward slopes)"
    assert plots.title("crucb(bonus='reference')") == "CRUCB (bonus 4 log t)"
    assert plots.title("horizon-crucb(decay=0.0, ahead=None)") == "HorizonCRUCB (decay = 0, no ahead)"
    assert plots.title("mine:Cure(shape='round', warm_up=True)") == "Cure (shape round, warm up)"


def test_a_policy_keeps_its_own_colour_beside_others():
    labels = ["cucb", "r-sr", "r-ucbe", "horizon-crucb", "crucb"]
    found = looks(labels)
    assert [found[label].colour for label in ("horizon-crucb", "crucb")] == [
        look(label).colour for label in ("horizon-crucb", "crucb")
    ]
    assert len({one.colour for one in found.values()}) == len(labels)


def test_a_policy_has_the_same_colour_in_every_figure():
    named = ["crucb(upward=True)", "program-crucb", "crucb", "horizon-crucb", "foresight", "r-ed-ucb", "sw-cts"]
    more = ["crucb(sigma=0.02)", "crucb(epsilon=0.125)", "mine:Cure(k=3)"]
    for labels in (named, named[::-1], [*more, *named], [*named[::-1], *more]):
        found = looks(labels)
        assert [found[label].colour for label in named] == [look(label).colour for label in named]
