"""Studies behind a service: the same studies, decisions and errors as on the database itself."""

from __future__ import annotations

import asyncio
import random
import threading
import time

import pytest
from service_kit import MAIN, PROBLEM, make, outcomes

import rising_bandits as rb
from rising_bandits import testing
from rising_bandits.errors import AlreadyToldError, InputError, StorageError, StudyGoneError
from rising_bandits.serve import Limits, Tokens, calls, make_app, sessions, tokens
from rising_bandits.studies.log import log as log_module
from rising_bandits.studies.log.events import Event
from rising_bandits.studies.storage.remote import Storage


@pytest.fixture
def there(storage, served):
    """The address of a service on the storage."""
    return served(make_app(storage, tokens=Tokens(MAIN), limits=Limits(rate=0)))


def told(decision):
    return outcomes({"id": decision.id, "super_arm": decision.super_arm})


def test_the_storage_conformance_suite(there, monkeypatch):
    # Its events are of no real study, so the service must not look into them.
    monkeypatch.setattr(calls, "CHECKED", False)
    testing.check_storage(lambda: Storage(there, token=MAIN))


def test_the_same_study_here_and_there(storage, there, monkeypatch, tmp_path):
    monkeypatch.setattr(log_module, "SNAPSHOT_EVENTS", 15)
    here = make(storage, "here")
    far = rb.studies.create("far", PROBLEM, rb.CRUCB(sigma=0.1), storage=there, token=MAIN, seed=7)
    drawn, waiting = random.Random(3), []
    for _ in range(30):
        if drawn.random() < 0.5 or not waiting:
            waiting.append((here.ask(), far.ask()))
            assert waiting[-1][0].super_arm == waiting[-1][1].super_arm
        else:
            one, two = waiting.pop(drawn.randrange(len(waiting)))
            assert here.tell(one, told(one)) is far.tell(two, told(two)) is True
    for study in (here, far):
        study.retire(["b->c"])
        study.reset(["a->b"])
        with study.group():
            study.tell(study.ask(), {})
    assert far.arms() == here.arms()
    assert far.explain(5).to_dict() == {**here.explain(5).to_dict(), "study": "far"}
    columns = ["arm", "play", "outcome", "round", "forgotten"]
    assert far.history()[columns].values.tolist() == here.history()[columns].values.tolist()
    assert rb.studies.names(storage=there, token=MAIN) == ["far", "here"]
    # Opened on the database itself it is the same study, and both may write.
    near = rb.studies.open("far", storage=storage)
    assert near.ask().id == far.decisions
    assert far.ask().id == near.decisions
    done = next(decision for decision in range(1, 30) if decision not in {each.id for each in far.open_decisions()})
    with pytest.raises(AlreadyToldError, match="told before"):
        far.tell(done, {far.explain(done).chosen.super_arm[0]: 0.987})
    with pytest.raises(InputError, match="decision must be the id"):
        far.tell(999, {})
    far.export(tmp_path / "far.jsonl")
    copy = rb.studies.load(tmp_path / "far.jsonl", "copy", storage=there, token=MAIN)
    assert copy.arms() == far.arms()
    rb.studies.delete("far", storage=there, token=MAIN)
    with pytest.raises(InputError, match="deleted"):
        near.ask()
    with pytest.raises(InputError, match="name must be one of the studies"):
        rb.studies.open("far", storage=there, token=MAIN)


def test_a_change_through_the_storage_has_the_name_of_its_token(storage, there, tmp_path, served):
    path = tmp_path / "tokens.json"
    make(storage).close()
    secret = tokens.create(path, "router", ["*"], ["storage"])
    address = served(make_app(storage, tokens=Tokens(MAIN, path), limits=Limits(rate=0)))
    far = rb.studies.open("routes", storage=address, token=secret)
    far.retire(["b->c"])
    far.author = "ann"
    far.restore(["b->c"])
    far.author = "router"
    far.reset(["b->c"])
    far.tell(far.ask(), {})
    # Whose token it is cannot be hidden by a name, however long.
    far.author = "x" * 500
    far.set_expiry(60)
    names = [event.author for event in rb.studies.open("routes", storage=storage).events()]
    assert names[:-1] == [None, "router", "router (for ann)", "router", None, None]
    assert names[-1] == ("router (for " + "x" * 500)[:500]
    assert [event.author for event in far.events()] == names
    assert rb.studies.check(storage=storage).whole


def test_the_asyncio_form_is_the_same_study(storage, there):
    """Two tasks on one event loop ask and tell over HTTP; the log has the decisions of a study here, in their order."""
    here = make(storage, "here")

    async def play(study, rounds):
        made = []
        for _ in range(rounds):
            decision = await study.ask(metadata={"by": "task"})
            assert await study.tell(decision, told(decision))
            made.append(decision.id)
        return made

    async def work():
        problem, policy = PROBLEM, rb.CRUCB(sigma=0.1)
        async with await rb.studies.aio.create("far", problem, policy, storage=there, token=MAIN, seed=7) as study:
            first = await asyncio.gather(play(study, 4), play(study, 4))
            other = await rb.studies.aio.open("far", storage=there, token=MAIN)
            # Another connection, at the same time; both wait for each other's transactions, never the event loop.
            second = await asyncio.gather(play(study, 3), play(other, 3))
            numbers = sorted(number for made in (*first, *second) for number in made)
            assert numbers == list(range(1, 15))
            with pytest.raises(AlreadyToldError):
                await other.tell(1, {})
            assert (await other.ask(key="k")).id == (await study.ask(key="k")).id == 15
            one, two = await study.ask(2, unavailable=["b->c"])
            assert await study.tell_many([(one, told(one)), (two, {})]) == [True, True]
            assert [held.id for held in await other.open_decisions()] == [15]
            assert (await other.explain(3)).to_dict() == (await study.explain(3)).to_dict()
            assert await other.arms() == await study.arms()
            assert len(await other.arms(at=1)) == PROBLEM.n_arms
            await other.run(other.study.retire, ["b->c"])
            assert await study.run(lambda: study.study.retired) == ["b->c"]
            rows = len(await study.history())
            await other.close()
            return rows

    rows = asyncio.run(work())
    near = rb.studies.open("far", storage=storage)
    assert len(near.history()) == rows
    # The same outcomes in the same order give the same knowledge in a study that never saw the service.
    for number in range(1, 15):
        with near._log.storage.read() as reader:
            ask, tell = reader.of_decision(near._log.number, number)
        labels = [PROBLEM.labels[key] for key in ask.body["arms"]]
        here.record(labels, dict(zip(labels, tell.body["raw"], strict=True)), source="copy")
    assert [arm.recent_average for arm in here.arms()] == [arm.recent_average for arm in near.arms(at=15)]


def test_the_asyncio_form_says_what_the_service_refuses(there):
    async def work():
        with pytest.raises(InputError, match="name must be one of the studies"):
            await rb.studies.aio.open("nobody", storage=there, token=MAIN)
        with pytest.raises(StorageError, match="refuses the token"):
            await rb.studies.aio.open("nobody", storage=there, token="wrong")

    asyncio.run(work())


def test_threads_and_services_write_to_one_study(storage, there):
    make(storage).close()
    failed = []

    def play(address, token):
        try:
            study = rb.studies.open("routes", storage=address, token=token)
            for _ in range(4):
                decision = study.ask()
                study.tell(decision, told(decision))
            study.close()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=play, args=pair) for pair in [(there, MAIN)] * 3 + [(storage, None)]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(set(rb.studies.open("routes", storage=storage).history()["decision_id"])) == 16


def test_a_transaction_that_falls_silent_is_rolled_back(storage, there, monkeypatch):
    monkeypatch.setattr(sessions, "LEASE", 0.2)
    make(storage).close()
    remote = Storage(there, token=MAIN)

    def silent():
        with remote.write(1) as writer:
            found = writer.study("routes")
            seq = len(list(writer.later(found[0], 0)))
            writer.append(found[0], [Event(seq + 1, "retire", writer.now, None, {"arms": [0]})])
            remote.close()
            while any(thread.name == "rising-session" for thread in threading.enumerate()):
                time.sleep(0.01)

    with pytest.raises(StorageError, match=r"over|rolled back"):
        silent()
    study = rb.studies.open("routes", storage=storage)
    assert study.retired == []
    assert study.ask().id == 1


WRONG = [
    [2, "ask", 1.0, 1, {"arms": [0, 1]}],
    [2, "ask", 1.0, 7, {"arms": [0, 2]}],
    [2, "tell", 1.0, 1, {"arms": [0], "raw": [0.5]}],
    [2, "retire", 1.0, None, {"arms": [99]}],
    [2, "retire", 1.0, None, {}],
    [2, "problem", 1.0, None, {"spec": {}, "labels": [], "keys": [], "unreachable": []}],
    [2, "nothing", 1.0, None, {}],
    [9, "retire", 1.0, None, {"arms": [4]}],
    [2, "retire", 1.0, None, []],
    [2, "retire"],
]


@pytest.mark.parametrize("row", WRONG)
def test_events_that_a_study_would_not_write_are_refused(storage, there, row):
    make(storage).close()
    remote = Storage(there, token=MAIN)

    def write():
        with remote.write(1) as writer:
            number, _ = writer.study("routes")
            writer._call("append", number, [row])

    with pytest.raises((InputError, StorageError)):
        write()
    with remote.read() as reader:
        assert len(list(reader.later(1, 0))) == 1


def test_methods_outside_the_protocol_are_refused(storage, there):
    make(storage).close()
    remote = Storage(there, token=MAIN)
    for call in (
        ["close"],
        ["_run", "x"],
        ["__init__"],
        [3],
        ["later"],
        ["later", "x", 0, None, None, 1],
        ["append", 1, []],
    ):
        with pytest.raises((InputError, StorageError)), remote.read() as reader:
            reader._call(*call)


def test_a_token_for_one_study_sees_no_other(storage, served, tmp_path):
    make(storage, "mine").close()
    make(storage, "yours").close()
    path = tmp_path / "tokens.json"
    token = tokens.create(path, "far", ["mine"], ["storage"])
    looker = tokens.create(path, "looker", ["mine"], ["read"])
    there = served(make_app(storage, tokens=Tokens(path=path), limits=Limits(rate=0)))
    assert rb.studies.names(storage=there, token=token) == ["mine"]
    assert rb.studies.open("mine", storage=there, token=token).ask().id == 1
    for act in (rb.studies.open, rb.studies.delete):
        with pytest.raises(InputError, match=r"not for a study|one of the studies of the storage \('mine'\)"):
            act("yours", storage=there, token=token)
    with pytest.raises(InputError, match="not for a study"):
        rb.studies.create("new", PROBLEM, storage=there, token=token)
    remote = Storage(there, token=token)
    with pytest.raises(InputError, match="not for study number"), remote.read() as reader:
        list(reader.later(2, 0))
    for wrong in (looker, "wrong", ""):
        with pytest.raises(StorageError, match="refuses the token") as error:
            rb.studies.open("mine", storage=there, token=wrong)
        assert not wrong or wrong not in str(error.value)


def test_wrong_addresses_are_refused(storage):
    for address in ("http://", "http://host/path", "http://user:secret@host", "http://host?token=secret"):
        with pytest.raises(InputError, match="address of a service") as error:
            rb.studies.open("s", storage=address)
        assert "secret" not in str(error.value)
    with pytest.raises(StorageError, match="does not answer"):
        rb.studies.open("s", storage="http://127.0.0.1:9", timeout=5)
    with pytest.raises(InputError, match="a database has no token"):
        rb.studies.open("s", storage=storage, token="x")
    with pytest.raises(InputError, match="clock"):
        rb.studies.open("s", storage="http://127.0.0.1:9", clock=lambda: 0.0)


def test_a_study_that_was_opened_before_the_service_started_again_goes_on(storage, served, tmp_path):
    make(storage, "mine").close()
    make(storage, "yours").close()
    path = tmp_path / "tokens.json"
    token = tokens.create(path, "far", ["mine"], ["storage"])

    def service():
        return served(make_app(storage, tokens=Tokens(MAIN, path), limits=Limits(rate=0)))

    # Another service on the same database knows no more than one that has started again.
    before, after = service(), service()
    for one in (MAIN, token):
        study = rb.studies.open("mine", storage=before, token=one)
        decision = study.ask()
        study._log.storage._port = int(after.rpartition(":")[2])
        study._log.storage.close()
        assert study.tell(decision, told(decision))
        assert study.ask().id == decision.id + 1
    with pytest.raises(InputError, match="not for study number"), Storage(before, token=token).write(2):
        pass
    rb.studies.delete("mine", storage=storage)
    with pytest.raises(StudyGoneError):
        study.ask()
