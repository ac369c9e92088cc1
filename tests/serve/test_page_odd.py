"""The page in a real browser where things are odd: names, ends of sessions, tabs that nobody sees, almost no data."""

from __future__ import annotations

import pytest
from service_kit import MAIN, make, outcomes, play

import rising_bandits as rb
from rising_bandits.serve import Limits, Tokens, make_app

INHERITED = ["constructor", "__proto__", "toString", "hasOwnProperty"]
"""Names that every object of JavaScript knows."""


def hide(page, hidden):
    """Tell the page that its tab is hidden, or that it is seen again."""
    page.evaluate(
        "hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
        " document.dispatchEvent(new Event('visibilitychange')); }",
        hidden,
    )


def wait_for_streams(page, app, count):
    """Wait until so many streams are open."""
    for _ in range(600):
        if app.state.rising.streams == count:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"there are {app.state.rising.streams} streams")


def test_names_that_every_object_knows_are_names_of_arms(storage, served, page):
    # More arms than curves that are sent at first, so that the others are looked up.
    labels = [*(f"arm {number}" for number in range(9)), *INHERITED]
    study = rb.studies.create("constructor", rb.problems.TopK(labels, k=13), storage=storage, seed=1)
    play(study, 3)
    study.hand_over("__proto__", labels, share=0.5)
    address = served(make_app(storage, limits=Limits(rate=0)))
    page.goto(f"{address}/#/study/constructor")
    page.get_by_text("Chosen:", exact=True).wait_for()
    for label in INHERITED:
        page.get_by_label("Arm", exact=True).select_option(label)
        page.get_by_text(f"{label}: mean outcomes by play").wait_for()
    page.goto(address)
    page.get_by_text("decisions", exact=True).wait_for()


def test_an_address_that_cannot_be_read_is_a_name(storage, served, page):
    make(storage, "100%").close()
    address = served(make_app(storage, limits=Limits(rate=0)))
    page.goto(f"{address}/#/study/100%")
    page.get_by_role("heading", name="100%").wait_for()
    page.get_by_text("Nothing was told yet.").first.wait_for()


def test_a_tab_that_nobody_sees_holds_no_connection(storage, served, page):
    study = make(storage)
    play(study, 2)
    app = make_app(storage, limits=Limits(rate=0))
    page.goto(f"{served(app)}/#/study/routes")
    page.get_by_text("● live").wait_for()
    wait_for_streams(page, app, 1)
    hide(page, True)
    page.get_by_text("○ not live").wait_for()
    wait_for_streams(page, app, 0)
    play(study, 1)
    hide(page, False)
    page.get_by_text("● live").wait_for()
    page.locator("#decisions", has_text="3").wait_for()
    wait_for_streams(page, app, 1)


def test_a_stream_that_is_refused_is_tried_again(storage, served, page):
    study = make(storage)
    play(study, 2)
    address = served(make_app(storage, limits=Limits(rate=0)))
    refused = []

    def refuse(route):
        refused.append(route)
        if len(refused) == 1:
            route.fulfill(status=503, content_type="application/problem+json", body="{}")
        else:
            route.continue_()

    page.route("**/events", refuse)
    page.goto(f"{address}/#/study/routes")
    page.get_by_text("● live").wait_for()
    assert len(refused) == 2
    # The browser logs the answer 503.
    assert all("503" in error for error in page.errors)
    page.errors.clear()


def test_the_end_of_a_session_asks_for_the_token_again(storage, served, page):
    study = make(storage)
    play(study, 2)
    app = make_app(storage, tokens=Tokens(MAIN), limits=Limits(rate=0))
    page.goto(f"{served(app)}/#/study/routes")
    page.get_by_label("Token").fill(MAIN)
    page.get_by_role("button", name="Enter").click()
    page.get_by_text("● live").wait_for()
    app.state.rising.guard._sessions.clear()
    page.get_by_label("Token").wait_for()
    page.get_by_label("Token").fill(MAIN)
    page.get_by_role("button", name="Enter").click()
    page.get_by_text("● live").wait_for()
    assert all("401" in error for error in page.errors)
    page.errors.clear()


def test_a_study_that_is_deleted_meanwhile_is_said_to_be_gone(storage, served, page):
    study = make(storage)
    play(study, 2)
    page.goto(f"{served(make_app(storage, limits=Limits(rate=0)))}/#/study/routes")
    page.get_by_text("● live").wait_for()
    study.close()
    rb.studies.delete("routes", storage=storage)
    page.get_by_text("there is no study 'routes'").wait_for()
    page.get_by_text("○ not live").wait_for()
    assert all("404" in error for error in page.errors)
    page.errors.clear()


def test_one_decision_is_drawn_with_whole_numbers_and_without_empty_charts(storage, served, page):
    study = make(storage)
    address = served(make_app(storage, limits=Limits(rate=0)))
    page.goto(f"{address}/#/study/routes")
    page.get_by_text("No decision was asked for yet.").first.wait_for()
    decision = study.ask()
    page.get_by_text("Chosen:", exact=True).wait_for()
    # Nothing is known of any arm, so there are no bars.
    page.get_by_text("Note: every arm").wait_for()
    assert page.locator("#h-why ~ .chart").count() == 0
    study.tell(decision, outcomes({"id": 1, "super_arm": decision.super_arm}))
    page.locator("#h-reward ~ .chart svg").wait_for()
    page.locator("#h-reward ~ .chart svg text", has_text="decisions told").wait_for()
    # The labels of the upright axis end before pixel 56, where the other axis begins.
    counts = page.evaluate(
        "() => { const svg = document.querySelector('#h-reward ~ .chart svg'), left = svg.getBoundingClientRect().left;"
        " const middle = each => { const box = each.getBoundingClientRect(); return box.x + box.width / 2 - left; };"
        " return [...svg.querySelectorAll('text')].filter(each => middle(each) > 50 && !isNaN(each.textContent))"
        ".map(each => each.textContent); }"
    )
    assert counts == ["0", "1"]


@pytest.mark.parametrize("ctrl", [False, True])
def test_a_wheel_over_a_chart_scrolls_the_page_and_zooms_only_with_ctrl(storage, served, page, ctrl):
    study = make(storage)
    play(study, 5)
    page.goto(f"{served(make_app(storage, limits=Limits(rate=0)))}/#/study/routes")
    page.get_by_text("Chosen:", exact=True).wait_for()
    chart = page.locator("#h-structure ~ .chart")
    # A wheel over a page that is not long enough yet does nothing.
    page.wait_for_function("() => document.documentElement.scrollHeight > innerHeight + 200")
    chart.hover()
    before = chart.locator("svg").inner_html()
    if ctrl:
        page.keyboard.down("Control")
    page.mouse.wheel(0, 200)
    if ctrl:
        page.wait_for_function(
            "before => document.querySelector('#h-structure ~ .chart svg').innerHTML !== before", arg=before
        )
        assert page.evaluate("scrollY") == 0
    else:
        page.wait_for_function("() => scrollY > 0")
        # The pointer marks an arm at most; the drawing has the same parts.
        page.wait_for_function(
            "count => document.querySelectorAll('#h-structure ~ .chart svg path').length === count",
            arg=before.count("<path"),
        )


def test_an_index_below_all_outcomes_is_not_shown_as_the_best(storage, served, page):
    problem = rb.problems.TopK(["good", "bad"], k=1)
    study = rb.studies.create("two", problem, rb.CRUCB(sigma=0.0001), storage=storage)
    for outcome in (0.9, 0.2) * 4:
        decision = study.ask()
        study.tell(decision, {arm: 0.5 if arm == "good" else outcome for arm in decision.super_arm})
    rows = {arm.label: arm.index for arm in study.arms()}
    assert rows["bad"] < 0.0 < rows["good"] <= 1.0
    page.goto(f"{served(make_app(storage, limits=Limits(rate=0)))}/#/study/two")
    page.locator("#h-arms ~ .scroll td", has_text="below the worst").first.wait_for()
    assert page.get_by_text("beyond the best").count() == 0


def test_a_young_rule_stands_at_its_time_beside_an_old_study(storage, served, page):
    clock = [1_700_000_000.0]
    study = rb.studies.create("old", rb.problems.TopK(["a", "b"], k=1), storage=storage, clock=lambda: clock[0])
    for _ in range(40):
        clock[0] += 86_400.0
        play(study, 1)
    for _ in range(5):
        clock[0] += 10.0
        study.record(["a"], {"a": 0.5}, source="today")
    page.goto(f"{served(make_app(storage, limits=Limits(rate=0)))}/#/study/old")
    page.locator("#h-reward ~ .chart svg text", has_text="Dec").first.wait_for()
    assert page.locator("#h-reward ~ .chart svg text", has_text="decisions told").count() == 0
