"""Requests as a stranger may send them: odd, endless, slow, or saying two things at once."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import pytest
from service_kit import MAIN, make, problem_of

import rising_bandits as rb
from rising_bandits.serve import Tokens, make_app, protocol

HOST = b"Host: localhost\r\n"


@pytest.fixture
def address(storage, served):
    made = urlsplit(served(make_app(storage)))
    return made.hostname, made.port


def read_answer(connection):
    """An answer of a connection: its status, its headers and its body; None if the connection is closed."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65_536)
        if not part:
            assert not data
            return None
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    while len(body) < int(headers["content-length"]):
        body += connection.recv(65_536)
    return int(first.split()[1]), headers, body


def refused(answer, status):
    """The detail of an answer that must be a problem."""
    found, headers, body = answer
    assert found == status, body
    assert headers["content-type"] == "application/problem+json"
    assert headers["x-content-type-options"] == "nosniff"
    assert json.loads(body)["status"] == status
    return json.loads(body)["detail"]


def exchange(address, data):
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(data)
        return read_answer(connection)


def fill(connection, data):
    """Send as much of endless data as the other side takes before it closes."""
    try:
        for _ in range(1_000):
            connection.sendall(data)
    except OSError:
        return
    pytest.fail("the other side takes anything")


@pytest.mark.parametrize(
    ("begin", "more"),
    [
        (b"GET /healthz HTTP/1.1\r\n" + HOST, b"X-Some: thing\r\n" * 5_000),
        (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Long: ", b"a" * 65_536),
        (b"GET /", b"a" * 65_536),
    ],
)
def test_an_endless_head_is_refused_and_the_connection_closed(address, begin, more):
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(begin)
        fill(connection, more)
    assert exchange(address, b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")[0] == 200


def test_a_head_that_is_a_little_too_large_is_told_so(address):
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Long: " + b"a" * protocol.MOST_HEAD)
        assert "at most 65536 bytes" in refused(read_answer(connection), 431)
        assert read_answer(connection) is None


def test_a_slow_head_is_not_waited_for(address, monkeypatch):
    monkeypatch.setattr(protocol, "PATIENCE", 0.05)
    with socket.create_connection(address, timeout=60) as connection:
        assert read_answer(connection) is None
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost:")
        refused(read_answer(connection), 408)
        assert read_answer(connection) is None
    with socket.create_connection(address, timeout=60) as connection:
        for _ in range(3):
            connection.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
            assert read_answer(connection)[0] == 200
        connection.sendall(b"GET /hea")
        refused(read_answer(connection), 408)


def test_the_time_of_a_head_ends_with_it(address, monkeypatch):
    monkeypatch.setattr(protocol, "PATIENCE", 0.05)
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
        assert read_answer(connection)[0] == 200
        # As long as another connection needs to be found too slow, which is the longest that a head may take.
        with socket.create_connection(address, timeout=60) as other:
            assert read_answer(other) is None
        connection.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
        assert read_answer(connection)[0] == 200


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01 hello\r\n\r\n",
        b"POST /v1/studies HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/studies HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
        b"POST /v1/studies HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n{}",
        "GET /v1/studies/ä HTTP/1.1\r\n".encode() + HOST + b"\r\n",
    ],
)
def test_what_is_not_http_is_a_problem_too(address, data):
    refused(exchange(address, data), 400)


def test_an_answer_that_is_underway_is_not_mixed_with_a_refusal(address):
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(b"GET /v1/studies HTTP/1.1\r\n" + HOST + b"\r\n\x00\x01\r\n\r\n")
        answer = read_answer(connection)
        assert answer is None or answer[0] == 200


def test_too_many_connections_are_refused(address, monkeypatch):
    monkeypatch.setattr(protocol.Protocol, "_most", 2)
    request = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
    with (
        socket.create_connection(address, timeout=60) as first,
        socket.create_connection(address, timeout=60) as second,
    ):
        for connection in (first, second):
            connection.sendall(request)
            assert read_answer(connection)[0] == 200
        with socket.create_connection(address, timeout=60) as third:
            refused(read_answer(third), 503)
        first.sendall(request)
        assert read_answer(first)[0] == 200


def test_there_are_fewer_connections_than_files(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 4_096))
    assert protocol.most_connections() == 128
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert protocol.most_connections() == protocol.MOST_CONNECTIONS


def test_other_protocols_are_not_spoken(address):
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    request = b"GET /healthz HTTP/1.1\r\n" + HOST + upgrade + key + b"\r\n"
    assert exchange(address, request)[0] == 200


@pytest.mark.parametrize(
    "name", ["Host", "Origin", "Sec-Fetch-Site", "Authorization", "Content-Type", "Idempotency-Key"]
)
def test_a_header_that_decides_must_be_there_once(address, name):
    twice = f"{name}: localhost\r\n{name}: evil.example\r\n".encode()
    host = b"" if name == "Host" else HOST
    detail = refused(exchange(address, b"GET /v1/studies HTTP/1.1\r\n" + host + twice + b"\r\n"), 400)
    assert name.lower() in detail


@pytest.mark.parametrize("origin", ["http://[", "http://a\u2100b", "null", "", "localhost"])
def test_an_odd_origin_is_another_site(client, origin):
    headers = [(b"Host", b"localhost"), (b"Origin", origin.encode())]
    problem_of(client.post("/v1/studies", headers=headers), 403)


def test_a_slash_more_is_another_path_and_no_redirection(client):
    answer = client.get("/v1/studies/", headers={"Host": "evil.example"})
    problem_of(answer, 404)
    assert "location" not in answer.headers


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        ("/v1/studies/routes/tell", '{"id": 1, "outcomes": {"a->b": 0.1, "b->d": 0.5, "a->b": 0.9}}', "a->b"),
        ("/v1/studies/routes/tell", '{"id": 1, "id": 2, "outcomes": {}}', "id"),
        ("/v1/studies/routes/ask", '{"metadata": {"deep": [{"x": 1, "x": 2}]}}', "x"),
    ],
)
def test_a_name_that_is_given_twice_is_refused_and_nothing_changes(storage, client, path, body, name):
    study = make(storage)
    study.ask()
    answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert repr(name) in problem_of(answer, 422)
    assert study.policy.round == 1
    assert study.decisions == 1
    study.close()


@pytest.mark.parametrize("body", ["[" * 900_000, '{"metadata": ' + '{"a":' * 100_000 + "1" + "}" * 100_001])
def test_deep_bodies_are_refused(storage, client, body):
    make(storage).close()
    headers = {"Content-Type": "application/json"}
    problem_of(client.post("/v1/studies/routes/ask", content=body, headers=headers), 422)


def test_wrong_tokens_of_others_do_not_hold_up_one_that_was_right(serve, storage):
    tokens = Tokens(MAIN)
    client = serve(tokens, failures=0.001)
    right = {"Authorization": f"Bearer {MAIN}"}
    assert client.get("/v1/studies", headers=right).status_code == 200
    statuses = [client.get("/v1/studies", headers={"Authorization": f"Bearer {n}"}).status_code for n in range(3)]
    assert statuses == [401, 429, 429]
    assert client.get("/v1/studies", headers=right).status_code == 200


def test_a_right_token_that_is_new_waits_like_a_wrong_one(serve):
    client = serve(Tokens(MAIN), failures=0.001)
    problem_of(client.get("/v1/studies", headers={"Authorization": "Bearer wrong"}), 401)
    problem_of(client.get("/v1/studies", headers={"Authorization": f"Bearer {MAIN}"}), 429)


def test_cookies_of_other_services_do_not_hide_the_session(serve):
    client = serve(Tokens(MAIN))
    answer = client.post("/v1/session", json={"token": MAIN})
    cookie = answer.headers["set-cookie"].partition(";")[0]
    for cookies in (cookie, f'a={{"b": 1}}; {cookie}', f"=; ; odd; {cookie}; x=[]", f'q="; {cookie}'):
        assert client.get("/v1/me", headers={"Cookie": cookies}).status_code == 200
    problem_of(client.get("/v1/me", headers={"Cookie": f"other{cookie}"}), 401)


def test_the_page_of_results_follows_no_links_out_of_its_folder(tmp_path, served):
    from rising_bandits.serve.results import make_view

    folder, secret = tmp_path / "results", tmp_path / "secret.html"
    folder.mkdir()
    secret.write_text("secret")
    (folder / "report.html").symlink_to(secret)
    (folder / "figure.png").symlink_to(secret)
    found = urlsplit(served(make_view(folder)))
    for name in (b"report.html", b"figure.png", b"../secret.html", b"..%2fsecret.html"):
        request = b"GET /report/" + name + b" HTTP/1.1\r\n" + HOST + b"\r\n"
        refused(exchange((found.hostname, found.port), request), 404)
    assert rb.experiments.ResultStore(folder).runs() == []
