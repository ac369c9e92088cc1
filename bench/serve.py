"""Speed of the service on this machine, as ratios in one run: ``python bench/serve.py``.

Sixteen keep-alive clients ask and tell over HTTP on loopback. Beside them, in the same run and through the same checks,
they call an operation that does nothing. The clients are two processes with an asyncio client each that writes requests
as bytes, so that the server is what is measured.

--rounds N    rounds per client (an ask and a tell), 300 by default
--repeats N   turns of both, 5 by default
--arms N      also opens a study with so many arms, 1000 by default
--decisions N and so many decisions in the page, 100000 by default (0: not)
--json FILE   where the numbers go, results/serve.json by default
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import http.client
import json
import multiprocessing
import os
import re
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import rising_bandits as rb
from rising_bandits.problems.tasks import grid_edges

CLIENTS = 16
PROCESSES = 2
TOKEN = "benchmark-token-0123456789"


class Client:
    """One keep-alive connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.times: list[float] = []

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        data = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost:{self.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        begun = time.perf_counter()
        self.writer.write(head.encode() + data)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        found = re.search(rb"content-length: (\d+)", answer)
        assert found is not None, answer
        content = await self.reader.readexactly(int(found[1]))
        self.times.append(time.perf_counter() - begun)
        if not answer.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(content.decode())
        return json.loads(content)


async def ask_and_tell(client: Client, rounds: int) -> None:
    for _ in range(rounds):
        decision = await client.post("/v1/studies/routes/ask", {})
        told = dict.fromkeys(decision["super_arm"], 0.5 + decision["id"] % 89 / 200)
        await client.post("/v1/studies/routes/tell", {"id": decision["id"], "outcomes": told})


async def nothing(client: Client, rounds: int) -> None:
    for _ in range(2 * rounds):
        await client.post("/v1/noop", {})


def _clients(what: Callable[[Client, int], Awaitable[None]], port: int, rounds: int, start: Any, answers: Any) -> None:
    async def run() -> list[float]:
        clients = [Client(port) for _ in range(CLIENTS // PROCESSES)]
        for client in clients:
            await client.open()
        start.wait()
        await asyncio.gather(*(what(client, rounds) for client in clients))
        return [seconds for client in clients for seconds in client.times]

    answers.put(asyncio.run(run()))


def measure(what: Callable[[Client, int], Awaitable[None]], port: int, rounds: int) -> tuple[float, list[float]]:
    """Requests a second, and the seconds of each."""
    context = multiprocessing.get_context("spawn")
    start, answers = context.Barrier(PROCESSES + 1), context.Queue()
    workers = [context.Process(target=_clients, args=(what, port, rounds, start, answers)) for _ in range(PROCESSES)]
    for worker in workers:
        worker.start()
    start.wait()
    begun = time.perf_counter()
    times = [seconds for _ in workers for seconds in answers.get(timeout=300)]
    spent = time.perf_counter() - begun
    for worker in workers:
        worker.join()
    return len(times) / spent, sorted(times)


def _server(storage: str, ready: Any) -> None:
    """The service with one more operation, which does nothing."""
    from rising_bandits.serve import routes, run
    from rising_bandits.serve.limits import Limits
    from rising_bandits.serve.operations import Call, operation
    from rising_bandits.serve.schemas import Ask, Done
    from rising_bandits.serve.tokens import Tokens

    routes.load()

    @operation("POST", "/v1/noop", right="ask", tag="Benchmark", body=Ask, answer=Done)
    async def noop(call: Call) -> Any:
        """Do nothing."""
        return Done()

    def say(line: str) -> None:
        ready.put(int(line.partition("//")[2].partition(":")[2].partition("/")[0]))

    run.run(storage, "127.0.0.1", 0, Tokens(TOKEN), Limits(rate=0), say=say)


@contextlib.contextmanager
def serving(storage: str) -> Iterator[int]:
    """A service in a process of its own; the port."""
    context = multiprocessing.get_context("spawn")
    ready = context.Queue()
    server = context.Process(target=_server, args=(storage, ready))
    server.start()
    try:
        yield ready.get(timeout=60)
    finally:
        server.terminate()
        server.join()


def large(storage: str, arms: int, decisions: int) -> None:
    """A study with many arms and decisions."""
    problem = rb.problems.TopK([f"arm {number}" for number in range(arms)], k=5)
    study = rb.studies.create("large", problem, rb.CRUCB(sigma=0.1, resolution=8), storage=storage, seed=1)
    made = 0
    while made < decisions:
        with study.group():
            for _ in range(min(500, decisions - made)):
                decision = study.ask()
                study.tell(decision, dict.fromkeys(decision.super_arm, decision.id % 89 / 100))
                made += 1
    study.close()


def opened(port: int) -> tuple[int, float, float]:
    """How many bytes the page of the large study is, and how many seconds pass until it is drawn, and is complete.

    The calls are those of the page: a long log is read in several, see ``left``.
    """
    sent, begun = 0, time.perf_counter()

    def get(path: str) -> Any:
        nonlocal sent
        connection = http.client.HTTPConnection("localhost", port, timeout=120)
        connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}", "Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        data = answer.read()
        sent += len(data)
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status}")
        connection.close()
        packed = answer.headers["Content-Encoding"] == "gzip"
        return gzip.decompress(data) if packed else data

    for path in ("/", "/static/page.js", "/static/page.css", "/static/icon.svg", "/v1/me"):
        get(path)
    left = json.loads(get("/v1/studies/large/overview"))["left"]
    drawn = time.perf_counter() - begun
    if left:
        while json.loads(get("/v1/studies/large/glance"))["left"]:
            pass
        get("/v1/studies/large/overview")
    return sent, drawn, time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--arms", type=int, default=1_000)
    parser.add_argument("--decisions", type=int, default=100_000)
    parser.add_argument("--json", type=Path, default=Path("results/serve.json"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/bench.db"
        # What the page keeps of long logs goes there too, so that the first opening is a first one.
        os.environ["XDG_CACHE_HOME"] = folder
        problem = rb.problems.ShortestPath(grid_edges(3), "0,0", "2,2")
        rb.studies.create("routes", problem, storage=storage).close()
        if options.decisions:
            large(storage, options.arms, options.decisions)
        with serving(storage) as port:
            measure(ask_and_tell, port, 20)
            # In turns, because the machine may be busier at one time than at another.
            turns = [
                (measure(nothing, port, options.rounds), measure(ask_and_tell, port, options.rounds))
                for _ in range(options.repeats)
            ]
            page = opened(port) if options.decisions else None
        if options.decisions:
            with serving(storage) as port:
                restarted = opened(port)
    times = sorted(seconds for _, (_, all_times) in turns for seconds in all_times)
    median, high = statistics.median(times), times[int(0.99 * len(times))]
    ratios = [rate / plain for (plain, _), (rate, _) in turns]
    found: dict[str, float | tuple[float, float]] = {
        "no-op, requests a second": statistics.median(plain for (plain, _), _ in turns),
        "ask and tell, requests a second": statistics.median(rate for _, (rate, _) in turns),
        "ratio, median of turns (wanted: at least 0.33)": statistics.median(ratios),
        "ratio, least and largest turn": (min(ratios), max(ratios)),
        "median of a request, ms": 1e3 * median,
        "99% of the requests, ms": 1e3 * high,
        "99% / median (wanted: at most 10)": high / median,
    }
    if page is not None:
        found |= {
            "bytes to open the large study (wanted: at most 1 MB)": page[0],
            "seconds until it is drawn for the first time ever": page[1],
            "seconds until its whole log is read": page[2],
            "seconds to open it after a restart of the service": restarted[2],
        }
    for name, value in found.items():
        print(f"{name:58s} " + " ".join(f"{one:12,.3f}" for one in (value if isinstance(value, tuple) else (value,))))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
