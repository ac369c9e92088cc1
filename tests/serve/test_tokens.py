"""Who may do what: tokens, rights, sessions of the page, and requests from other sites."""

from __future__ import annotations

import itertools
import json
import sqlite3

import pytest
from service_kit import MAIN, make, problem_of

from rising_bandits.errors import InputError
from rising_bandits.serve import Tokens, guard, routes, tokens
from rising_bandits.serve.operations import OPERATIONS
from rising_bandits.serve.run import check_exposure

CALLS = {
    "read": [
        ("GET", "/v1/studies/{}", None),
        ("GET", "/v1/studies/{}/arms", None),
        ("GET", "/v1/studies/{}/history", None),
        ("GET", "/v1/studies/{}/changes", None),
        ("GET", "/v1/studies/{}/decisions/1/explain", None),
        ("GET", "/v1/studies/{}/decisions/1/then", None),
        ("GET", "/v1/studies/{}/compare?source=test", None),
        ("GET", "/v1/studies/{}/glance", None),
        ("GET", "/v1/studies/{}/overview", None),
        ("GET", "/v1/studies/{}/curve?arm=a->b", None),
        ("POST", "/v1/studies/{}/preview", {"retire": ["b->c"]}),
    ],
    "ask": [("POST", "/v1/studies/{}/ask", {})],
    "tell": [
        ("POST", "/v1/studies/{}/tell", {"id": 1, "outcomes": {}}),
        ("POST", "/v1/studies/{}/record", {"source": "test", "super_arm": ["a->b", "b->d"], "outcomes": {}}),
    ],
    "change": [
        ("POST", "/v1/studies/{}/retire", {"arms": ["b->c"]}),
        ("POST", "/v1/studies/{}/restore", {"arms": ["b->c"]}),
        ("POST", "/v1/studies/{}/reset", {"arms": ["b->c"]}),
        ("POST", "/v1/studies/{}/settings", {"horizon": 100}),
    ],
    "delete": [("DELETE", "/v1/studies/{}", None)],
}


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "kept" / "tokens.json"


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_the_list_of_calls_has_every_operation_on_a_study():
    routes.load()
    wanted = {(each.method, each.path, each.right) for each in OPERATIONS if "{study}" in each.path}
    wanted.remove(("GET", "/v1/studies/{study}/events", "read"))  # A stream, which does not end.
    tried = {(method, path.partition("?")[0], right) for right, calls in CALLS.items() for method, path, _ in calls}
    assert {
        (method, path.replace("/1/", "/{decision}/").replace("{}", "{study}"), right) for method, path, right in tried
    } == wanted


def test_every_right_allows_its_own_calls_on_its_own_study(storage, serve, kept):
    for name in ("mine", "yours"):
        study = make(storage, name)
        study.ask()
        study.record(["a->b", "b->d"], {}, source="test")
    made = {right: tokens.create(kept, right, ["mine"], [right]) for right in CALLS}
    client = serve(Tokens(path=kept))
    for right, (wanted, calls) in itertools.product(CALLS, CALLS.items()):
        for method, path, body in calls:
            if right == wanted == "delete":
                continue
            options = {"headers": bearer(made[right])} | ({} if body is None else {"json": body})
            answer = client.request(method, path.format("mine"), **options)
            if right == wanted:
                assert answer.status_code == 200, (right, path, answer.text)
            else:
                assert wanted in problem_of(answer, 403)
            # For this token the other study does not exist, and neither does one that nobody has.
            hidden = problem_of(client.request(method, path.format("yours"), **options), 404)
            assert hidden.replace("yours", "none") == problem_of(
                client.request(method, path.format("none"), **options), 404
            )
    assert client.get("/v1/studies", headers=bearer(made["read"])).json() == {"studies": ["mine"]}
    problem_of(client.get("/metrics", headers=bearer(made["read"])), 403)
    problem_of(client.get("/v1/studies", headers=bearer(made["ask"])), 403)
    new = {"name": "new", "problem": {"listed": [["a"]]}}
    problem_of(client.post("/v1/studies", json=new, headers=bearer(made["change"])), 403)
    maker = tokens.create(kept, "maker", ["new"], ["create", "read"])
    client.app.state.rising.guard.tokens.reload()
    problem_of(client.post("/v1/studies", json={**new, "name": "other"}, headers=bearer(maker)), 403)
    assert client.post("/v1/studies", json=new, headers=bearer(maker)).status_code == 200
    assert client.request("DELETE", "/v1/studies/mine", headers=bearer(made["delete"])).status_code == 200


def test_no_or_a_wrong_token_is_401_everywhere_but_where_it_must_not_be_needed(storage, serve):
    make(storage).close()
    client = serve(Tokens(MAIN), failures=1000.0)
    paths = [(method, path.format("routes"), body) for calls in CALLS.values() for method, path, body in calls]
    for method, path, body in [
        *paths,
        ("GET", "/v1/studies", None),
        ("GET", "/metrics", None),
        ("GET", "/v1/me", None),
    ]:
        for headers in (
            {},
            bearer("wrong"),
            bearer(MAIN[:-1]),
            bearer(MAIN + "x"),
            {"Authorization": MAIN},
            bearer("é"),
        ):
            encoded = {name: value.encode("utf-8") for name, value in headers.items()}
            answer = client.request(method, path, json=body, headers=encoded)
            problem_of(answer, 401)
            assert answer.headers["www-authenticate"].startswith("Bearer")
        # The study must not be given away either.
        problem_of(client.request(method, path.replace("routes", "none"), json=body), 401)
    for path in ("/healthz", "/readyz", "/docs", "/openapi.json"):
        assert client.get(path).status_code == 200


def test_whoever_guesses_has_to_wait(storage, serve):
    client = serve(Tokens(MAIN), failures=1.0)
    statuses = [client.get("/v1/studies", headers=bearer(f"guess {number}")).status_code for number in range(5)]
    assert statuses[0] == 401
    assert statuses[-1] == 429


def test_a_file_of_tokens_holds_no_token_and_is_closed_to_others(kept):
    token = tokens.create(kept, "router", ["routes"], ["ask", "tell"])
    assert token not in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0
    known = Tokens(path=kept)
    found = known.grant(token)
    assert (found.name, found.studies, found.rights) == ("router", {"routes"}, {"ask", "tell"})
    with pytest.raises(InputError, match="must be new"):
        tokens.create(kept, "router", ["routes"], ["ask"])
    tokens.revoke(kept, "router")
    known.reload()
    assert known.grant(token) is None
    # Where a token was needed it stays needed.
    assert known.needed
    kept.unlink()
    known.reload()
    assert known.needed
    with pytest.raises(InputError, match="the name of a token"):
        tokens.revoke(kept, "router")


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"format": 2, "tokens": []}', '{"format": 1, "tokens": [{}]}', '{"format": 1, "tokens": 3}']
    + [
        json.dumps(
            {"format": 1, "tokens": [{"name": "a", "studies": ["*"], "rights": ["ask"], "sha256": "0" * 64} | bad]}
        )
        for bad in (
            {"name": 3},
            {"studies": []},
            {"studies": "*"},
            {"rights": ["all"]},
            {"rights": []},
            {"sha256": "x"},
        )
    ],
)
def test_a_damaged_file_of_tokens_lets_nobody_in(kept, content, serve):
    token = tokens.create(kept, "router", ["*"], ["read"])
    known = Tokens(path=kept)
    client = serve(known)
    assert client.get("/v1/studies", headers=bearer(token)).status_code == 200
    kept.write_text(content)
    with pytest.raises(InputError):
        Tokens(path=kept)
    known.reload()
    problem_of(client.get("/v1/studies", headers=bearer(token)), 503)
    known.reload()
    problem_of(client.get("/v1/studies"), 503)


def test_a_file_of_tokens_that_others_can_read_is_refused(kept):
    tokens.create(kept, "router", ["*"], ["read"])
    kept.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        Tokens(path=kept)


def test_wrong_rights_and_short_tokens_are_refused(kept):
    for name, studies, rights in (("", ["*"], ["ask"]), ("a", [], ["ask"]), ("a", ["*"], []), ("a", ["*"], ["root"])):
        with pytest.raises(InputError):
            tokens.create(kept, name, studies, rights)
    assert not kept.exists()
    with pytest.raises(InputError, match="at least 16") as error:
        Tokens("hunter2")
    assert "hunter2" not in str(error.value)


def test_others_reach_the_service_only_with_a_token():
    for host in ("0.0.0.0", "::", "192.168.1.7", "example.org", ""):
        with pytest.raises(InputError, match="loopback"):
            check_exposure(host, Tokens())
        check_exposure(host, Tokens(MAIN))
    for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost"):
        check_exposure(host, Tokens())


def test_a_page_of_another_site_changes_nothing(storage, serve):
    make(storage).close()
    client = serve()
    strange = [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1234"},
        {"Origin": "http://localhost.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ]
    for headers in strange:
        problem_of(client.post("/v1/studies/routes/ask", json={}, headers=headers), 403)
        problem_of(client.request("DELETE", "/v1/studies/routes", headers=headers), 403)
        problem_of(client.post("/v1/session", json={"token": "x"}, headers=headers), 403)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        sent = {"content": b'{"n": 1}', "headers": {"Content-Type": kind}}
        problem_of(client.post("/v1/studies/routes/ask", **sent), 415)
    for host in ("evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:80"):
        problem_of(client.get("/v1/studies", headers={"Host": host}), 421)
    for host in ("localhost:8765", "127.0.0.1", "[::1]:8765", "LOCALHOST"):
        assert client.get("/v1/studies", headers={"Host": host}).status_code == 200
    same = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert client.post("/v1/studies/routes/ask", json={}, headers=same).json()["id"] == 1
    assert "access-control-allow-origin" not in client.get("/v1/studies", headers=strange[0]).headers


def test_a_session_of_the_page(storage, serve, kept, monkeypatch):
    make(storage).close()
    token = tokens.create(kept, "page", ["routes"], ["read"])
    known = Tokens(path=kept)
    client = serve(known)
    problem_of(client.post("/v1/session", json={"token": "wrong"}), 401)
    answer = client.post("/v1/session", json={"token": token})
    cookie = answer.headers["set-cookie"]
    assert token not in cookie
    for part in ("HttpOnly", "SameSite=Strict", "Path=/"):
        assert part in cookie
    assert client.get("/v1/me").json()["name"] == "page"
    problem_of(client.post("/v1/studies/routes/ask", json={}), 403)
    monkeypatch.setattr(guard.time, "monotonic", lambda now=guard.time.monotonic: now() + guard.SESSION + 1)
    problem_of(client.get("/v1/me"), 401)
    monkeypatch.undo()
    assert client.get("/v1/me").status_code == 200
    tokens.revoke(kept, "page")
    known.reload()
    problem_of(client.get("/v1/me"), 401)
    problem_of(client.get("/v1/me", headers={"Cookie": "rising_session=; rising_session=\x01"}), 401)
    assert "Max-Age=0" in client.request("DELETE", "/v1/session").headers["set-cookie"]


def test_tokens_from_the_command_line(run, kept, capsys):
    assert (
        run("serve", "token", "create", "--study", "routes", "--can", "ask,tell", "--name", "r", "--tokens", kept) == 0
    )
    token = capsys.readouterr().out.strip()
    assert Tokens(path=kept).grant(token).rights == {"ask", "tell"}
    assert run("serve", "token", "list", "--tokens", kept, "--json") == 0
    listed = capsys.readouterr().out
    assert json.loads(listed) == {"tokens": [{"name": "r", "studies": ["routes"], "rights": ["ask", "tell"]}]}
    assert run("serve", "token", "revoke", "r", "--tokens", kept) == 0
    assert Tokens(path=kept).grant(token) is None
    assert run("serve", "token", "create", "--study", "routes", "--can", "everything", "--tokens", kept) == 2
    assert "rights must be some of" in capsys.readouterr().err


def test_the_command_refuses_an_open_door(run, kept, capsys, monkeypatch):
    monkeypatch.delenv("RISING_TOKEN", raising=False)
    assert run("serve", "--host", "0.0.0.0", "--tokens", kept) == 2
    assert "RISING_TOKEN" in capsys.readouterr().err
    monkeypatch.setenv("RISING_TOKEN", "short")
    assert run("serve", "--tokens", kept) == 2
    assert "at least 16" in capsys.readouterr().err


@pytest.mark.parametrize("storage", ["mysql://host/db", "sqlite:////no/such/folder/x.db", "sqlite:///{}/text.db"])
def test_a_database_that_cannot_be_opened_is_one_line(run, kept, capsys, monkeypatch, tmp_path, storage):
    monkeypatch.delenv("RISING_TOKEN", raising=False)
    (tmp_path / "text.db").write_text("this is no database" * 100)
    assert run("serve", "--port", "0", "--tokens", kept, "--storage", storage.format(tmp_path)) == 2
    said = capsys.readouterr().err
    assert said.startswith("rising: ")
    assert "Traceback" not in said
    assert "http://" not in said


def test_the_cookie_is_for_tls_only_where_the_browser_speaks_tls(serve):
    client = serve(Tokens(MAIN))
    for origin, secure in (("http://localhost", False), ("https://localhost", True)):
        answer = client.post("/v1/session", json={"token": MAIN}, headers={"Origin": origin})
        assert answer.status_code == 200
        assert ("; Secure" in answer.headers["set-cookie"]) is secure


def test_every_change_has_the_name_of_its_token_and_asks_and_tells_have_none(storage, serve, kept):
    make(storage).close()
    for name in ("ann", "bob"):
        tokens.create(kept, name, ["*"], ["read", "ask", "change", "create"])
    with pytest.raises(InputError, match="name of the token in the environment"):
        tokens.create(kept, "RISING_TOKEN", ["*"], ["read"])
    secret = {name: tokens.create(kept, f"{name} again", ["*"], tokens.RIGHTS) for name in ("ann", "bob")}
    client = serve(Tokens(MAIN, kept))
    secret["main"] = MAIN
    place = "/v1/studies/routes"
    for who, path, body in (
        ("ann", "/retire", {"arms": ["b->c"]}),
        ("bob", "/restore", {"arms": ["b->c"]}),
        ("main", "/reset", {"arms": ["b->c"]}),
        ("ann", "/settings", {"horizon": 100, "share": {"name": "today", "share": 0.1, "super_arm": ["a->b", "b->d"]}}),
        ("bob", "/ask", {}),
    ):
        assert client.post(place + path, json=body, headers=bearer(secret[who])).status_code == 200
    # A change that is refused leaves no name behind for the next one.
    problem_of(client.post(f"{place}/retire", json={"arms": ["none"]}, headers=bearer(secret["bob"])), 422)
    new = {"name": "new", "problem": {"listed": [["a"]]}}
    assert client.post("/v1/studies", json=new, headers=bearer(secret["bob"])).status_code == 200
    found = client.get(f"{place}/changes", headers=bearer(MAIN)).json()
    assert found["next"] is None
    assert [(each["kind"], each["what"], each["author"]) for each in found["changes"]] == [
        ("problem", "5 arms", None),
        ("retire", "b->c", "ann again"),
        ("restore", "b->c", "bob again"),
        ("reset", "b->c", "RISING_TOKEN"),
        ("set", "horizon: 100", "ann again"),
        ("set", "shares: 0.1 to 'today', rules: 'today' is a->b, b->d", "ann again"),
    ]
    after = found["changes"][2]["seq"]
    later = client.get(f"{place}/changes?after={after}", headers=bearer(MAIN)).json()
    assert later["changes"] == found["changes"][3:]
    assert client.get(f"{place}/changes?after=1000000", headers=bearer(MAIN)).json() == {"changes": [], "next": None}
    made = client.get("/v1/studies/new/changes", headers=bearer(MAIN)).json()["changes"]
    assert [each["author"] for each in made] == ["bob again"]
    shown = client.get(f"{place}/overview", headers=bearer(MAIN)).json()["changes"]
    assert [each["author"] for each in shown] == [each["author"] for each in found["changes"]]
    with sqlite3.connect(storage.removeprefix("sqlite:///")) as database:
        bodies = [body for (body,) in database.execute("select body from rising_events")]
    assert not any(each in body for each in secret.values() for body in bodies)
    assert [each["author"] for each in serve().get(f"{place}/changes").json()["changes"]][-1] == "ann again"
