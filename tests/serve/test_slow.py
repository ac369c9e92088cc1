"""Slow studies: they hold up no other, and who cannot be answered in time is told so."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from service_kit import make, problem_of

from rising_bandits.serve import Limits, hub
from rising_bandits.serve.desk import Desk

SLOW = [f"slow {number}" for number in range(10)]


@pytest.fixture
def gate(storage, monkeypatch):
    """Studies whose name begins with slow are opened only when this event is set."""
    for name in [*SLOW, "routes"]:
        make(storage, name).close()
    event, opened = threading.Event(), hub.studies.open

    def wait_and_open(name, **options):
        assert not name.startswith("slow") or event.wait(60)
        return opened(name, **options)

    monkeypatch.setattr(hub.studies, "open", wait_and_open)
    yield event
    event.set()


@pytest.fixture
def pool():
    with ThreadPoolExecutor(2 * len(SLOW)) as threads:
        yield threads


def wait_until_busy(client, count):
    """Wait until so many studies are busy."""
    while sum(desk.busy for desk in client.app.state.rising.hub.opened()) < count:
        threading.Event().wait(0.01)


def test_slow_studies_hold_up_no_decision_of_another(client, gate, pool):
    asked = [pool.submit(client.post, f"/v1/studies/{name}/ask", json={}) for name in SLOW]
    wait_until_busy(client, len(SLOW))
    assert client.post("/v1/studies/routes/ask", json={}).status_code == 200
    assert not any(one.done() for one in asked)
    gate.set()
    assert [one.result().status_code for one in asked] == [200] * len(SLOW)


def test_slow_studies_hold_up_no_report_of_another(client, gate, pool):
    asked = [pool.submit(client.get, f"/v1/studies/{name}/arms") for name in [*SLOW, SLOW[0]]]
    wait_until_busy(client, len(SLOW))
    assert client.get("/v1/studies/routes/arms").status_code == 200
    assert client.get("/readyz").status_code == 200
    assert not any(one.done() for one in asked)
    gate.set()
    assert [one.result().status_code for one in asked] == [200] * len(asked)


def test_metrics_leave_out_a_study_that_does_not_answer(client, gate, pool, monkeypatch):
    monkeypatch.setattr("rising_bandits.serve.routes.health._PATIENCE", 0.5)
    client.post("/v1/studies/routes/ask", json={})
    asked = pool.submit(client.get, f"/v1/studies/{SLOW[0]}/arms")
    wait_until_busy(client, 1)
    found = client.get("/metrics").text
    assert 'rising_decisions_total{study="routes"} 1.0' in found
    gate.set()
    assert asked.result().status_code == 200


def test_who_finds_no_room_is_told_when_to_come_again(serve, gate, pool, monkeypatch):
    monkeypatch.setattr(hub, "ROOM", 0.1)
    client = serve(open=2)
    asked = [pool.submit(client.post, f"/v1/studies/{name}/ask", json={}) for name in SLOW[:2]]
    wait_until_busy(client, 2)
    answer = client.post("/v1/studies/routes/ask", json={})
    assert problem_of(answer, 503) == "2 other studies are busy"
    assert answer.headers["retry-after"] == "5"
    gate.set()
    assert [one.result().status_code for one in asked] == [200, 200]
    assert client.post("/v1/studies/routes/ask", json={}).status_code == 200


def test_who_waits_too_long_for_a_slow_study_is_told_so(serve, gate):
    client = serve(seconds=0.1)
    answer = client.post(f"/v1/studies/{SLOW[0]}/ask", json={})
    assert problem_of(answer, 503).startswith("no answer in time")
    assert answer.headers["retry-after"] == "1"
    gate.set()
    # A decision that nobody waits for is not made.
    while (found := client.post(f"/v1/studies/{SLOW[0]}/ask", json={})).status_code != 200:
        pass
    assert found.json()["id"] == 1


def test_tells_of_one_moment_come_first_and_in_the_order_of_their_decisions(storage):
    study = make(storage)
    done, held, go_on = [], threading.Event(), threading.Event()

    async def run():
        desk = Desk("routes", lambda: study, Limits().waiting, lambda _: None)
        first = desk.write(lambda *_: held.set() or go_on.wait(60))
        await asyncio.to_thread(held.wait, 60)
        others = [
            desk.write(lambda *_: done.append("ask")),
            desk.write(lambda *_: done.append("tell 2"), told=2),
            desk.write(lambda *_: done.append("retire")),
            desk.write(lambda *_: done.append("tell 1"), told=1),
        ]
        go_on.set()
        await asyncio.gather(first, *others)
        assert desk.version == 2
        assert not desk.busy
        desk.close()
        await asyncio.to_thread(desk.wait)

    asyncio.run(run())
    assert done == ["tell 1", "tell 2", "ask", "retire"]
