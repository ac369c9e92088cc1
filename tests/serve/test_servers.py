"""Several servers on one PostgreSQL agree: each decision is made once, and each tell is stored once."""

from __future__ import annotations

import contextlib
import threading

import pytest
from service_kit import PROBLEM, Peer, make, outcomes, start

import rising_bandits as rb

CLIENTS, ROUNDS = 8, 6


@pytest.fixture
def storage(postgres):
    yield postgres
    for name in rb.studies.names(storage=postgres):
        rb.studies.delete(name, storage=postgres)


@pytest.fixture
def ports(storage, tmp_path):
    """The ports of two servers on the storage."""
    make(storage).close()
    with contextlib.ExitStack() as stack:
        found = []
        for _ in range(2):
            process, port = start(storage, tmp_path)
            stack.callback(process.stderr.close)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            found.append(port)
        yield found


def at_once(*actions):
    """Run actions in threads that begin together; what each returned."""
    gate, results, failed = threading.Barrier(len(actions)), [None] * len(actions), []

    def run(place, action):
        gate.wait()
        try:
            results[place] = action()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(actions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    return results


def test_two_servers_on_one_database_agree(storage, ports):
    asking = [Peer(ports[number % 2]) for number in range(CLIENTS)]
    telling = [Peer(ports[1 - number % 2]) for number in range(CLIENTS)]

    def play(number):
        for turn in range(ROUNDS):
            # Every other round is asked at one server and told at the other.
            decision = asking[number].ask()
            teller = telling[number] if turn % 2 else asking[number]
            assert teller.tell(decision) is True
            assert asking[number].tell(decision) is False

    at_once(*(lambda number=number: play(number) for number in range(CLIENTS)))

    # One Idempotency-Key through both servers at the same moment: one decision.
    for turn in range(5):
        keyed = [lambda peer=peer, turn=turn: peer.ask(key=f"order-{turn}") for peer in (*asking[:2], *telling[:2])]
        found = at_once(*keyed)
        assert len({decision["id"] for decision in found}) == 1
        assert len({tuple(decision["super_arm"]) for decision in found}) == 1
        # And again later, in the other order.
        assert [peer.ask(key=f"order-{turn}")["id"] for peer in reversed(asking[:2])] == [found[0]["id"]] * 2

    # What the clients were answered is what the log says, and nothing else is in it.
    study = rb.studies.open("routes", storage=storage)
    asked = {number: arms for peer in asking for number, arms in peer.asked.items()}
    asked |= {number: arms for peer in telling for number, arms in peer.asked.items()}
    told = {number: found for peer in (*asking, *telling) for number, found in peer.told.items()}
    assert sorted(asked) == list(range(1, CLIENTS * ROUNDS + 5 + 1)) == list(range(1, study.decisions + 1))
    assert len(told) == CLIENTS * ROUNDS
    kinds = [event.kind for event in study.events()]
    assert kinds.count("ask") == len(asked)
    assert kinds.count("tell") == len(told)
    with study._log.storage.read() as reader:
        for number, arms in asked.items():
            ask, *others = reader.of_decision(study._log.number, number)
            assert [PROBLEM.labels[key] for key in ask.body["arms"]] == arms
            if number in told:
                (tell,) = others
                labels = [PROBLEM.labels[key] for key in tell.body["arms"]]
                assert dict(zip(labels, tell.body["raw"], strict=True)) == told[number]
            else:
                assert others == []

    # Both servers know the same, as a study that reads the whole log, and they see each other's changes.
    twin = [arm.__dict__ for arm in study.arms()]
    for peer in (asking[0], asking[1]):
        assert [arm | {"label": arm["label"]} for arm in peer.get("/v1/studies/routes/arms")["arms"]] == twin
    asking[0].post("/v1/studies/routes/retire", {"arms": ["b->c"]})
    assert all("b->c" not in asking[1].ask()["super_arm"] for _ in range(10))
    seen = [peer.get("/v1/studies/routes/overview") for peer in asking[:2]]
    assert seen[0]["changes"] == seen[1]["changes"]
    assert seen[0]["curves"] == seen[1]["curves"]
    assert seen[0]["study"]["retired"] == ["b->c"]
    for peer in (*asking, *telling):
        peer.connection.close()


def test_outcomes_that_contradict_are_refused_by_the_other_server(storage, ports):
    one, two = Peer(ports[0]), Peer(ports[1])
    decision = one.ask()
    assert one.tell(decision) is True
    other = {arm: 1.0 - value for arm, value in outcomes(decision).items()}
    body = {"id": decision["id"], "outcomes": other}
    assert two.send("POST", "/v1/studies/routes/tell", body)[0] == 409
    for peer in (one, two):
        peer.connection.close()
