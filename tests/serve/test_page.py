"""The page in a real browser: it opens, follows, changes things, and shows labels as text."""

from __future__ import annotations

from service_kit import MAIN, make, play, shot

import rising_bandits as rb
from rising_bandits.serve import Limits, Tokens, make_app, tokens

NASTY = ["<b>bold</b>", "<img src=x onerror=alert(1)>", "'\"><script>alert(2)</script>", "plain"]
TURNED = "\u202eno\nname"


def test_the_page_opens_follows_and_retires_an_arm_by_clicking(storage, served, page):
    study = make(storage)
    play(study, 30)
    address = served(make_app(storage, limits=Limits(rate=0)))
    page.goto(address)
    # A screen reader gets the name of the study as the link, and its numbers as text beside it.
    page.get_by_role("link", name="routes", exact=True).wait_for()
    page.get_by_role("article").get_by_role("definition").first.wait_for()
    page.get_by_role("article").click()
    page.wait_for_selector("#h-structure")
    assert page.get_by_role("rowheader").count() == 5
    assert page.text_content("#decisions") == "30"
    page.get_by_text("● live").wait_for()
    page.get_by_text("Chosen:", exact=True).wait_for()
    # A tell of another process arrives by itself.
    play(study, 1)
    page.locator("#decisions", has_text="31").wait_for()
    # Back to what was known at decision 1.
    page.focus("#scrub")
    page.keyboard.press("Home")
    page.get_by_role("heading", name="Why decision 1", exact=True).wait_for()
    page.get_by_role("button", name="now").click()
    # Retire an arm: first what it would do, then do it.
    page.get_by_label("Arm", exact=True).select_option("b->c")
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("The next decision").wait_for()
    assert study.retired == []
    page.get_by_role("button", name="Retire b->c").click()
    page.get_by_text("Done: retire b->c.").wait_for()
    assert study.retired == ["b->c"]
    page.get_by_text("retired: b->c").wait_for()
    shot(page, "study")


def tab_to(page, wanted, key="Tab"):
    """Press a key until an element is focused that a selector finds."""
    for _ in range(200):
        page.keyboard.press(key)
        if page.evaluate("selector => document.activeElement.matches(selector)", wanted):
            return
    raise AssertionError(f"the keyboard does not reach {wanted}")


def test_the_page_is_used_with_the_keyboard_alone(storage, served, page):
    study = make(storage)
    play(study, 30)
    study.record(["a->c", "c->d"], {"a->c": 0.5, "c->d": 0.5}, source="today")
    page.goto(served(make_app(storage, limits=Limits(rate=0))))
    page.get_by_role("heading", name="routes").wait_for()
    page.get_by_text("today: 1").wait_for()
    tab_to(page, ".card h2 a")
    page.keyboard.press("Enter")
    page.get_by_text("Chosen:", exact=True).wait_for()
    # The content is what is focused, so the next stop is in it.
    tab_to(page, "#scrub")
    page.keyboard.press("Home")
    page.get_by_text("as of decision 1,").wait_for()
    tab_to(page, "button[aria-label='Show decision 31']")
    page.keyboard.press("Enter")
    page.get_by_text("Note: this decision was made by 'today'").wait_for()
    # An arm is picked in the table, and the form has it.
    tab_to(page, "#h-arms ~ .scroll tbody button", "Shift+Tab")
    picked = page.evaluate("document.activeElement.textContent").removeprefix("● ")
    page.keyboard.press("Enter")
    tab_to(page, "select[aria-label='Do']", "Shift+Tab")
    page.keyboard.type("reset")
    tab_to(page, "button.main")
    page.keyboard.press("Enter")
    page.get_by_text("The next decision").wait_for()
    # The focus is still on the button, and the next stops are what the preview says and the change itself.
    tab_to(page, "button.danger")
    page.keyboard.press("Enter")
    page.get_by_text(f"Done: reset {picked}.").wait_for()
    assert page.evaluate("document.activeElement.textContent") == f"Done: reset {picked}."
    assert study.plays()[picked] == 0
    page.get_by_role("button", name="Compare with today").press("Enter")
    page.get_by_text("too few decisions were told").wait_for()


def named(page):
    """Check that everything to operate, and every picture, has a name for screen readers."""
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    roles = {"button", "combobox", "textbox", "searchbox", "slider", "spinbutton", "checkbox", "link", "image", "img"}
    shown = [each for each in tree if not each["ignored"] and each["role"]["value"] in roles]
    assert {"link", "combobox"} <= {each["role"]["value"] for each in shown}
    assert [each["role"]["value"] for each in shown if not each.get("name", {}).get("value", "").strip()] == []


def test_a_policy_is_chosen_with_typed_parameters(storage, served, page):
    study = make(storage)
    play(study, 12)
    address = served(make_app(storage, limits=Limits(rate=0)))
    page.goto(address)
    page.get_by_role("heading", name="routes").wait_for()
    named(page)
    page.goto(f"{address}/#/study/routes")
    page.get_by_text("Chosen:", exact=True).wait_for()
    page.get_by_label("Do", exact=True).select_option("policy")
    page.get_by_label("Policy", exact=True).select_option("horizon-crucb")
    named(page)
    # A number out of its range is refused before anything is done, with the library's own words.
    page.get_by_role("textbox", name="windows").fill("9")
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("This cannot be done: windows must be").wait_for()
    # A number, a text and a null arrive as what they are; a field left empty has its default.
    for name, typed in (("windows", "2"), ("bonus", "proved"), ("sigma", "null"), ("decay", "0.25")):
        page.get_by_role("textbox", name=name).fill(typed)
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Change the policy to horizon-crucb").click()
    page.get_by_text("Done: policy.").wait_for()
    assert repr(study.policy) == repr(rb.HorizonCRUCB(windows=2, bonus="proved", sigma=None, decay=0.25))
    page.locator("#facts", has_text="windows=2").wait_for()
    # The table of arms fits on a phone.
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("(e => e.scrollWidth <= e.clientWidth)(document.querySelector('#h-arms ~ .scroll'))")
    shot(page, "policy")


def test_super_arms_have_colours_in_the_past_and_a_share_is_handed_over(storage, served, page, tmp_path):
    team = rb.problems.Explicit([["ann", "bob"], ["cy"], ["bob"]])
    study = rb.studies.create("team", team, rb.SWUCB(window=10), storage=storage, seed=1)
    play(study, 20)
    secret = tokens.create(tmp_path / "tokens.json", "ops & <b>co</b>", ["team"], ["read", "change"])
    address = served(make_app(storage, tokens=Tokens(path=tmp_path / "tokens.json"), limits=Limits(rate=0)))
    page.goto(f"{address}/#/study/team")
    page.get_by_label("Token").fill(secret)
    page.get_by_role("button", name="Enter").click()
    page.get_by_text("Chosen:", exact=True).wait_for()
    page.focus("#scrub")
    page.keyboard.press("Home")
    page.get_by_text("as of decision 1,").wait_for()
    assert page.get_by_text("worst then").count() == 0
    page.get_by_label("Number of the decision").fill("15")
    page.keyboard.press("Enter")
    page.get_by_text("worst then: ").wait_for()
    page.get_by_role("button", name="now").click()
    page.get_by_text("worst now: ").wait_for()
    page.get_by_label("Do", exact=True).select_option("share")
    page.get_by_label("Percent").fill("25")
    named(page)
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Hand 25% of the asks to today").click()
    page.get_by_text("Done: share.").wait_for()
    assert dict(study.settings.shares) == {"today": 0.25}
    # Who did it is on the page and in the log, as text.
    page.get_by_text("25% of the asks: ").wait_for()
    page.get_by_text("by ops & <b>co</b>").wait_for()
    assert study.events()[-1].author == "ops & <b>co</b>"
    assert all("401" in error for error in page.errors)
    page.errors.clear()


def test_labels_full_of_html_are_text_and_the_token_opens_the_page(storage, served, page):
    name = "<script>alert(0)</script>"
    study = rb.studies.create(
        name, rb.problems.TopK([*NASTY, TURNED], k=2), rb.CRUCB(sigma=0.1), storage=storage, seed=1
    )
    play(study, 12)
    address = served(make_app(storage, tokens=Tokens(MAIN), limits=Limits(rate=0)))
    page.goto(address)
    page.get_by_label("Token").fill(MAIN)
    page.get_by_role("button", name="Enter").click()
    page.get_by_role("heading", name=name).click()
    page.get_by_text("Chosen:", exact=True).wait_for()
    for label in NASTY:
        page.get_by_role("button", name=label).first.wait_for()
    # What would turn letters around, or break lines, is written out.
    page.get_by_role("button", name="\\u202eno\\nname").first.wait_for()
    page.locator("#h-why ~ .chart svg rect, #h-why ~ .chart svg path").nth(8).hover(force=True)
    page.get_by_label("Look").select_option("dark")
    page.get_by_text("Chosen:", exact=True).wait_for()
    # On a phone nothing is wider than the screen.
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("() => document.documentElement.scrollWidth <= 391")
    shot(page, "phone")
    # Without the token the first look is answered with 401, which the browser logs.
    assert all("401" in error for error in page.errors)
    page.errors.clear()


def test_a_large_study_opens_with_a_small_page(storage, serve):
    problem = rb.problems.TopK([f"arm {number}" for number in range(1000)], k=3)
    play(rb.studies.create("large", problem, rb.CRUCB(sigma=0.1, resolution=8), storage=storage, seed=1), 20)
    client = serve()
    sent = 0
    for path in (
        "/",
        "/static/page.js",
        "/static/page.css",
        "/static/icon.svg",
        "/v1/me",
        "/v1/studies/large/overview",
    ):
        answer = client.get(path, headers={"Accept-Encoding": "gzip"})
        assert answer.status_code == 200
        sent += int(answer.headers["content-length"])
    assert sent <= 1_000_000
    first = client.get("/static/page.js")
    assert client.get("/static/page.js", headers={"If-None-Match": first.headers["etag"]}).status_code == 304
    policy = client.get("/").headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert client.get("/static/secret").status_code == 404
    assert client.get("/static/..%2Fapp.py").status_code == 404


NAMES = """() => {
  const chart = document.querySelector("#h-structure ~ .chart svg");
  const box = (each) => { const at = each.getBoundingClientRect(); return [at.left, at.top, at.right, at.bottom]; };
  return { chart: box(chart), names: [...chart.querySelectorAll("text")].map((text) => [text.textContent, box(text)]) };
}"""


def test_names_of_nodes_stand_apart_and_inside_the_drawing(storage, served, page):
    grid = [((f"{a},{b}"), f"{a + c},{b + 1 - c}") for a in range(4) for b in range(4) for c in (0, 1)]
    grid = [(one, other) for one, other in grid if "4" not in other]
    rb.studies.create("grid", rb.problems.ShortestPath(grid, "0,0", "3,3"), storage=storage).close()
    people, work = ["ann", "bob", "a very long name of a worker"], ["label", "rank", "summarise everything"]
    rb.studies.create("matching", rb.problems.Matching(people, work), storage=storage).close()
    address = served(make_app(storage, limits=Limits(rate=0)))
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for study, count in (("grid", 16), ("matching", 6)):
            page.goto(address)
            page.get_by_role("heading", name=study, exact=True).click()
            page.wait_for_selector("#h-structure ~ .chart svg text")
            found = page.evaluate(NAMES)
            left, top, right, bottom = found["chart"]
            assert len(found["names"]) == count
            for name, box in found["names"]:
                assert left <= box[0] < box[2] <= right, name
                assert top <= box[1] < box[3] <= bottom, name
            boxes = [box for _, box in found["names"]]
            for place, one in enumerate(boxes):
                for other in boxes[place + 1 :]:
                    assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
