"""The service decides as the library does, keeps what it answered, and says what is wrong."""

from __future__ import annotations

import json
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from service_kit import MAIN, PROBLEM, make, outcomes, problem_of

import rising_bandits as rb
from rising_bandits.errors import InputError
from rising_bandits.serve import Limits, Tokens, forms, make_app


def test_the_contract_of_ask_and_tell(storage, client):
    make(storage).close()
    answer = client.post("/v1/studies/routes/ask", json={})
    assert answer.status_code == 200
    decision = answer.json()
    assert decision["id"] == 1
    assert set(decision["super_arm"]) <= set(PROBLEM.labels)
    told = {"id": 1, "outcomes": outcomes(decision)}
    assert client.post("/v1/studies/routes/tell", json=told).json() == {"new": True}
    assert client.post("/v1/studies/routes/tell", json=told).json() == {"new": False}
    other = {"id": 1, "outcomes": {decision["super_arm"][0]: 0.123}}
    assert "told before" in problem_of(client.post("/v1/studies/routes/tell", json=other), 409)
    second = client.post("/v1/studies/routes/ask").json()
    bad = {"id": 2, "outcomes": {second["super_arm"][0]: 1.5}}
    assert "must be a number in [0, 1]" in problem_of(client.post("/v1/studies/routes/tell", json=bad), 422)
    assert client.get("/healthz").json()["status"] == "ok"
    assert client.get("/readyz").json()["status"] == "ready"
    text = client.get("/metrics").text
    assert 'rising_decisions_total{study="routes"} 2.0' in text
    assert 'rising_tells_total{study="routes"} 1.0' in text
    assert 'rising_open_decisions{study="routes"} 1.0' in text


def test_metrics_are_of_all_studies_also_after_a_restart(storage, serve):
    for name in ("one", "two"):
        make(storage, name, expires=60.0, clock=lambda: 1_000.0).ask(2)
    decision = rb.studies.open("two", storage=storage).ask()
    rb.studies.open("two", storage=storage).tell(decision, dict.fromkeys(decision.super_arm, 0.5))
    # Nobody has asked here yet.
    client = serve()
    text = client.get("/metrics").text
    assert 'rising_expired_decisions{study="one"} 2.0' in text
    assert 'rising_open_decisions{study="two"} 0.0' in text
    assert 'rising_recent_reward{study="two"}' in text
    assert 'rising_rounds{study="two"} 1.0' in text
    assert 'rising_rounds{study="one"} 0.0' in text
    assert 'rising_request_seconds_bucket{le="0.001",operation="metrics"}' in client.get("/metrics").text
    client.request("DELETE", "/v1/studies/one")
    text = client.get("/metrics").text
    assert 'study="one"' not in text
    assert 'rising_rounds{study="two"}' in text


def test_the_same_decisions_as_the_library(storage, client):
    study = make(storage, "here")
    make(storage, "there").close()
    for _ in range(30):
        here = study.ask()
        there = client.post("/v1/studies/there/ask", json={}).json()
        assert there["super_arm"] == here.super_arm
        told = outcomes(there)
        study.tell(here, told)
        client.post("/v1/studies/there/tell", json={"id": there["id"], "outcomes": told})
    for here, there in zip(study.arms(), client.get("/v1/studies/there/arms").json()["arms"], strict=True):
        assert here.__dict__ == there
    explained = client.get("/v1/studies/there/decisions/9/explain").json()
    wanted = study.explain(9).to_dict()
    assert explained == {**wanted, "study": "there"}
    rows = client.get("/v1/studies/there/history", params={"last": 5, "skip": 3}).json()
    table = study.history()
    assert [row["outcome"] for row in rows["rows"]] == table["outcome"].tolist()[-8:-3]
    assert rows["more"]
    everything = client.get("/v1/studies/there/history", params={"last": 100_000}).json()
    assert len(everything["rows"]) == len(table)
    assert not everything["more"]


def test_several_asks_and_tells_in_one_request(storage, client):
    make(storage).close()
    made = client.post("/v1/studies/routes/ask", json={"n": 3, "unavailable": ["b->c"]}).json()["decisions"]
    assert [decision["id"] for decision in made] == [1, 2, 3]
    assert all("b->c" not in decision["super_arm"] for decision in made)
    tells = [{"id": decision["id"], "outcomes": outcomes(decision)} for decision in made]
    tells[1]["outcomes"] = {"nobody": 0.5}
    first = made[0]["super_arm"][0]
    tells.append({"id": 1, "outcomes": {first: 0.77}})
    fates = client.post("/v1/studies/routes/tell", json={"tells": tells}).json()["tells"]
    assert [fate["status"] for fate in fates] == [200, 422, 200, 409]
    assert [decision.id for decision in rb.studies.open("routes", storage=storage).open_decisions()] == [2]
    arms = made[1]["super_arm"]
    part = {"id": 2, "outcomes": {arms[0]: 0.25}, "final": False}
    assert client.post("/v1/studies/routes/tell", json=part).json() == {"new": True}
    assert client.post("/v1/studies/routes/tell", json={"id": 2, "outcomes": {arms[1]: 0.5}}).json() == {"new": True}
    explained = client.post("/v1/studies/routes/ask", json={"explain": True}).json()
    assert explained["explanation"]["chosen"]["super_arm"] == explained["super_arm"]


def test_the_same_key_gets_the_same_decision_also_from_another_server(storage, serve):
    make(storage).close()
    first, second = serve(), serve()
    key = {"Idempotency-Key": "order-66"}
    made = first.post("/v1/studies/routes/ask", json={}, headers=key).json()
    assert first.post("/v1/studies/routes/ask", json={}, headers=key).json() == made
    assert second.post("/v1/studies/routes/ask", json={}, headers=key).json() == made
    assert second.post("/v1/studies/routes/ask", json={}).json()["id"] == 2
    assert first.post("/v1/studies/routes/ask", json={}).json()["id"] == 3
    # A decision that is answered again is counted once.
    assert 'rising_decisions_total{study="routes"} 2.0' in first.get("/metrics").text
    assert 'rising_decisions_total{study="routes"} 1.0' in second.get("/metrics").text


def test_many_clients_at_once_share_transactions_and_lose_nothing(storage, serve):
    make(storage).close()
    client, told, failed = serve(), {}, []

    def play():
        try:
            for _ in range(6):
                decision = client.post("/v1/studies/routes/ask", json={}).json()
                report = {"id": decision["id"], "outcomes": outcomes(decision)}
                assert client.post("/v1/studies/routes/tell", json=report).json() == {"new": True}
                told[decision["id"]] = report["outcomes"]
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=play) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert sorted(told) == list(range(1, 49))
    table = rb.studies.open("routes", storage=storage).history()
    assert {
        number: dict(zip(rows["arm"], rows["outcome"], strict=True)) for number, rows in table.groupby("decision_id")
    } == told


def test_studies_are_created_shown_changed_and_deleted(client):
    wanted = {
        "name": "a team / of two",
        "problem": {"matchings": {"workers": ["ann", "bob"], "jobs": ["cats", "cars", "maps"]}},
        "policy": {"name": "crucb", "parameters": {"sigma": 0.05}},
        "scale": {"name": "range", "parameters": {"low": 0, "high": 60, "unit": "min", "lower_is_better": True}},
        "horizon": 500,
        "expires": 3600,
        "seed": 3,
    }
    made = client.post("/v1/studies", json=wanted).json()
    assert (made["arms"], made["unit"], made["horizon"], made["expires"]) == (6, "min", 500, 3600.0)
    assert client.get("/v1/studies").json() == {"studies": ["a team / of two"]}
    assert "already" in problem_of(client.post("/v1/studies", json=wanted), 409)
    assert client.post("/v1/studies", json={**wanted, "exist_ok": True}).status_code == 200
    place = "/v1/studies/a%20team%20%2F%20of%20two"
    assert client.get(place).json() == made
    assert client.post(f"{place}/retire", json={"arms": ["ann->cats"]}).json() == {"done": True}
    assert client.get(place).json()["retired"] == ["ann->cats"]
    assert client.post(f"{place}/restore", json={"arms": ["ann->cats"]}).json() == {"done": True}
    assert client.post(f"{place}/reset", json={"arms": ["ann->cats"]}).json() == {"done": True}
    everything = {"arms": [f"ann->{job}" for job in ("cats", "cars", "maps")] + ["nobody"]}
    problem_of(client.post(f"{place}/retire", json=everything), 422)
    assert client.request("DELETE", place).json() == {"done": True}
    problem_of(client.get(place), 404)
    problem_of(client.request("DELETE", place), 404)


@pytest.mark.parametrize(
    "problem",
    [
        {"paths": {"edges": [["a", "b"], ["b", "c", "bridge"], ["a", "c"]], "source": "a", "target": "c"}},
        {"trees": {"edges": [["a", "b"], ["b", "c"], ["a", "c"]]}},
        {"sets": {"arms": ["x", "y", "z"], "k": 2}},
        {"largest_of": {"arms": ["x", "y", "z"], "k": 2}},
        {"listed": [["x"], ["y", "z"]]},
        {"spec": PROBLEM.spec()},
    ],
)
def test_every_form_of_a_problem(client, problem):
    assert client.post("/v1/studies", json={"name": "s", "problem": problem}).status_code == 200
    assert client.post("/v1/studies/s/ask", json={}).json()["super_arm"]


def test_labels_that_are_no_texts_have_texts(storage, client):
    problem = rb.problems.TopK([1, "1", ("a", 2.5)], k=2)
    rb.studies.create("s", problem, rb.CRUCB(sigma=0.1), storage=storage, seed=1).close()
    seen = set()
    for _ in range(3):
        decision = client.post("/v1/studies/s/ask", json={}).json()
        assert client.post(
            "/v1/studies/s/tell", json={"id": decision["id"], "outcomes": outcomes(decision)}
        ).json() == {"new": True}
        seen.update(decision["super_arm"])
    assert seen == {"1 (arm 0)", "1", "('a', 2.5)"}


def test_a_study_that_was_deleted_and_made_anew_is_found(storage, client):
    make(storage).close()
    assert client.post("/v1/studies/routes/ask", json={}).json()["id"] == 1
    client.get("/v1/studies/routes")
    rb.studies.delete("routes", storage=storage)
    problem_of(client.get("/v1/studies/routes"), 404)
    make(storage).close()
    assert client.post("/v1/studies/routes/ask", json={}).json()["id"] == 1


WRONG = [
    ("POST", "/v1/studies/routes/ask", b"{", 422),
    ("POST", "/v1/studies/routes/ask", b"[]", 422),
    ("POST", "/v1/studies/routes/ask", b'{"n": 0}', 422),
    ("POST", "/v1/studies/routes/ask", b'{"n": 1001}', 422),
    ("POST", "/v1/studies/routes/ask", b'{"m": 1}', 422),
    ("POST", "/v1/studies/routes/ask", b'{"unavailable": ["nobody"]}', 422),
    ("POST", "/v1/studies/routes/ask", b'{"unavailable": ["a->b", "a->c"]}', 422),
    ("POST", "/v1/studies/routes/ask", b'{"unavailable": ["\xff"]}', 422),
    ("POST", "/v1/studies/routes/ask", b"[" * 100_000, 422),
    ("POST", "/v1/studies/routes/tell", b"{}", 422),
    ("POST", "/v1/studies/routes/tell", b'{"id": 1}', 422),
    ("POST", "/v1/studies/routes/tell", b'{"id": 99, "outcomes": {}}', 422),
    ("POST", "/v1/studies/routes/tell", b'{"id": 1, "outcomes": {"a->b": 1e999}}', 422),
    ("POST", "/v1/studies/routes/tell", b'{"id": 1, "outcomes": {"a->b": "1"}}', 422),
    ("POST", "/v1/studies/routes/tell", b'{"tells": []}', 422),
    ("POST", "/v1/studies/routes/tell", b'{"id": 1, "outcomes": {}, "tells": [{"id": 1, "outcomes": {}}]}', 422),
    ("POST", "/v1/studies/nothing/ask", b"{}", 404),
    ("POST", "/v1/studies/%00/ask", b"{}", 404),
    ("GET", "/v1/studies/routes/decisions/0/explain", b"", 404),
    ("GET", "/v1/studies/routes/decisions/2/explain", b"", 404),
    ("GET", "/v1/studies/routes/decisions/%C2%B2/explain", b"", 404),
    ("GET", "/v1/studies/routes/history?last=0", b"", 422),
    ("GET", "/v1/studies/routes/history?last=1&last=2", b"", 422),
    ("GET", "/v1/studies/routes/history?first=1", b"", 422),
    ("GET", "/nothing", b"", 404),
    ("PUT", "/v1/studies/routes/ask", b"{}", 405),
    ("POST", "/v1/studies", b'{"name": "x", "problem": {}}', 422),
    ("POST", "/v1/studies", b'{"name": "x", "problem": {"spec": {}}}', 422),
    ("POST", "/v1/studies", b'{"name": " ", "problem": {"listed": [["a"]]}}', 422),
    ("POST", "/v1/studies", b'{"name": "x", "problem": {"listed": [["a"]]}, "policy": {"name": "os:system"}}', 422),
    ("POST", "/v1/studies", b'{"name": "x", "problem": {"listed": [["a"]]}, "scale": {"name": "x"}}', 422),
]


def test_every_error_is_a_problem_and_changes_nothing(storage, client):
    make(storage).close()
    client.post("/v1/studies/routes/ask", json={})
    before = rb.studies.open("routes", storage=storage)._log.look
    with before() as (fold, _):
        seq = fold.seq
    for method, path, body, status in WRONG:
        answer = client.request(
            method, path, content=body, headers={"Content-Type": "application/json"} if body else {}
        )
        assert problem_of(answer, status), (method, path)
    problem_of(client.post("/v1/studies/routes/ask", content=b"n=1"), 415)
    with before() as (fold, _):
        assert fold.seq == seq
    assert rb.studies.names(storage=storage) == ["routes"]


def test_limits(storage, serve):
    make(storage).close()
    client = serve(body=200, batch=2)
    assert "at most 200 bytes" in problem_of(
        client.post("/v1/studies/routes/ask", json={"unavailable": ["x" * 300]}), 413
    )

    async def chunks():
        for _ in range(5):
            yield b" " * 100

    sent = {"content": chunks(), "headers": {"Content-Type": "application/json"}}
    problem_of(client.post("/v1/studies/routes/ask", **sent), 413)
    assert "at most 2" in problem_of(client.post("/v1/studies/routes/ask", json={"n": 3}), 422)
    usual = serve()
    for labels in (["x" * 501], ["x"] * 10_001):
        assert "length <=" in problem_of(usual.post("/v1/studies/routes/ask", json={"unavailable": labels}), 422)
    with pytest.raises(InputError, match="batch"):
        Limits(batch=1_001)
    slow = serve(rate=0.5)
    assert slow.get("/v1/studies").status_code == 200
    answer = slow.get("/v1/studies")
    assert "at most 0.5 requests" in problem_of(answer, 429)
    assert answer.headers["retry-after"] == "1"
    assert slow.get("/healthz").status_code == 200


def test_a_database_out_of_reach_is_said_and_readiness_ends(storage, serve, tmp_path):
    make(storage).close()
    client = serve()
    client.post("/v1/studies/routes/ask", json={})
    (tmp_path / "studies.db").rename(tmp_path / "away.db")
    problem_of(client.post("/v1/studies/routes/ask", json={}), 503)
    problem_of(client.get("/readyz"), 503)
    assert client.get("/healthz").status_code == 200
    (tmp_path / "away.db").rename(tmp_path / "studies.db")
    assert client.get("/readyz").status_code == 200
    assert client.post("/v1/studies/routes/ask", json={}).json()["id"] == 2


class Broken(Exception):
    pass


def test_an_unforeseen_error_is_a_problem_without_its_text_and_harms_no_neighbour(storage, serve, monkeypatch, caplog):
    make(storage).close()
    client = serve()
    asked = rb.studies.Study.ask

    def ask(self, *given, key=None, **options):
        if key == "bad":
            raise Broken("secret")
        return asked(self, *given, key=key, **options)

    monkeypatch.setattr(rb.studies.Study, "ask", ask)
    answers = []

    def call(key):
        answers.append((key, client.post("/v1/studies/routes/ask", json={}, headers={"Idempotency-Key": key})))

    threads = [threading.Thread(target=call, args=(key,)) for key in ("good", "bad", "fine", "bad", "well")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for key, answer in answers:
        if key == "bad":
            assert "secret" not in problem_of(answer, 500)
        else:
            assert answer.status_code == 200
    assert "secret" in caplog.text
    assert rb.studies.open("routes", storage=storage).decisions == 3


def test_no_token_is_in_any_log_or_answer(storage, serve, caplog):
    make(storage).close()
    client = serve(Tokens(MAIN))
    caplog.set_level(0)
    answers = [
        client.get("/v1/studies", headers={"Authorization": f"Bearer {MAIN}"}),
        client.get("/v1/studies", headers={"Authorization": f"Bearer {MAIN}x"}),
        client.get("/v1/studies", headers={"Authorization": f"Basic {MAIN}"}),
        client.post("/v1/session", json={"token": MAIN}),
        client.get("/metrics", headers={"Authorization": f"Bearer {MAIN}"}),
    ]
    assert [answer.status_code for answer in answers] == [200, 401, 401, 200, 200]
    for answer in answers:
        assert MAIN not in answer.text
        assert MAIN not in str(answer.headers)
    assert MAIN not in "".join(record.getMessage() for record in caplog.records if "httpx" not in record.name)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(labels=st.lists(st.text(min_size=1, max_size=20), min_size=2, max_size=5, unique=True))
def test_any_text_is_a_label(client, labels):
    try:
        [label.encode() for label in labels]
    except UnicodeEncodeError:
        return
    name = f"s{len(client.get('/v1/studies').json()['studies'])}"
    made = client.post("/v1/studies", json={"name": name, "problem": {"sets": {"arms": labels, "k": 2}}})
    assert made.status_code == 200
    decision = client.post(f"/v1/studies/{name}/ask", json={}).json()
    assert set(decision["super_arm"]) <= set(labels)
    assert client.post(f"/v1/studies/{name}/tell", json={"id": 1, "outcomes": outcomes(decision)}).json() == {
        "new": True
    }


def test_a_pair_of_many_is_named_with_the_ask(storage, client):
    links = [["a", "b"], ["b", "c"], ["a", "c"], ["c", "d"]]
    problem = {"routes": {"edges": links, "pairs": [["a", "d"], ["b", "d"]]}}
    assert client.post("/v1/studies", json={"name": "net", "problem": problem, "seed": 1}).status_code == 200
    for among in ("b->d", ["b", "d"]):
        decision = client.post("/v1/studies/net/ask", json={"among": among}).json()
        assert decision["super_arm"] == ["b->c", "c->d"]
    many = client.post("/v1/studies/net/ask", json={"among": ["a", "d"], "n": 4}).json()["decisions"]
    assert all(each["super_arm"][0].startswith("a->") for each in many)
    assert "among" in problem_of(client.post("/v1/studies/net/ask", json={"among": "d->a"}), 422)
    problem_of(client.post("/v1/studies/net/ask", json={"among": ["a"]}), 422)
    with rb.studies.open("net", storage=storage)._log.look() as (fold, _):
        assert fold.decisions == 6


@pytest.mark.parametrize(
    ("problem", "sizes"),
    [
        ({"one_of_each": {"groups": {"search": ["x", "y"], "answer": ["u", "v"]}}}, {2}),
        ({"knapsack": {"costs": {"x": 2, "y": 1, "z": 2}, "budget": 3}}, {1, 2}),
    ],
)
def test_problems_with_groups_and_budgets(client, problem, sizes):
    assert client.post("/v1/studies", json={"name": "s", "problem": problem}).status_code == 200
    assert len(client.post("/v1/studies/s/ask", json={}).json()["super_arm"]) in sizes


def test_decisions_made_elsewhere_are_recorded_and_compared(storage, client):
    study = make(storage)
    paths = {"today": ["a->c", "c->d"], "nobody": ["a->b", "c->d"]}
    for number in range(6):
        decision = client.post("/v1/studies/routes/ask", json={}).json()
        client.post("/v1/studies/routes/tell", json={"id": decision["id"], "outcomes": outcomes(decision)})
        body = {"source": "today", "super_arm": paths["today"], "outcomes": {"a->c": 0.25, "c->d": 0.5 + number / 20}}
        found = client.post("/v1/studies/routes/record", json={**body, "metadata": {"number": number}})
        assert found.json()["id"] == 2 * (number + 1)
    table = study.history()
    assert (table["decision_id"] % 2 == 0).sum() == 12
    compared = client.get("/v1/studies/routes/compare", params={"source": "today"}).json()
    assert compared.pop("text") == str(study.compare("today"))
    assert compared == json.loads(json.dumps(study.compare("today").to_dict()))
    problem_of(client.get("/v1/studies/routes/compare", params={"source": "nobody"}), 422)
    wrong = {**body, "super_arm": paths["nobody"], "outcomes": {}}
    assert "super_arm" in problem_of(client.post("/v1/studies/routes/record", json=wrong), 422)
    assert study.decisions == 12
    # A source may have any name but that of the study itself, and is drawn as a source of its own.
    client.post("/v1/studies/routes/record", json={**body, "source": "policy"})
    problem_of(client.post("/v1/studies/routes/record", json={**body, "source": "study"}), 422)
    assert {*client.get("/v1/studies/routes/glance").json()["earned"]} == {"study", "today", "policy"}


def test_an_application_of_what_is_no_database_is_refused_when_it_is_made():
    with pytest.raises(InputError, match="storage must be a URL"):
        make_app("mysql://host/database")


def test_problems_that_take_long_to_make_hold_up_nobody_else(storage, client, monkeypatch):
    make(storage).close()
    made, go = threading.Event(), threading.Event()
    plain = forms.ProblemChoice.make

    def slowly(choice):
        made.set()
        go.wait()
        return plain(choice)

    monkeypatch.setattr(forms.ProblemChoice, "make", slowly)
    answers = []

    def create(name):
        body = {"name": name, "problem": {"sets": {"arms": ["a", "b"], "k": 1}}}
        answers.append(client.post("/v1/studies", json=body).status_code)

    threads = [threading.Thread(target=create, args=(f"new {number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    made.wait()
    try:
        assert client.get("/readyz").status_code == 200
        assert client.get("/v1/studies/routes/glance").status_code == 200
        assert client.post("/v1/studies/routes/ask", json={}).json()["id"] == 1
    finally:
        go.set()
        for thread in threads:
            thread.join()
    assert answers == [200] * 6
