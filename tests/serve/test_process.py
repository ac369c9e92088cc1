"""The service as a process: killed in the middle of eight clients, and ended with requests underway."""

from __future__ import annotations

import http.client
import json
import signal
import threading

from service_kit import Peer, make, start

import rising_bandits as rb

ENOUGH = 40
"""Tells that must be answered before the server is killed."""


def test_what_was_answered_survives_kill_9_and_sigterm_lets_requests_finish(storage, tmp_path):
    make(storage).close()
    process, port = start(storage, tmp_path)
    peers = [Peer(port) for _ in range(8)]
    enough = threading.Event()

    def play(peer):
        try:
            while True:
                peer.round()
                if sum(len(other.told) for other in peers) >= ENOUGH:
                    enough.set()
        except (OSError, http.client.HTTPException, AssertionError):
            enough.set()

    threads = [threading.Thread(target=play, args=(peer,)) for peer in peers]
    for thread in threads:
        thread.start()
    enough.wait()
    process.kill()
    process.wait()
    process.stderr.close()
    for thread in threads:
        thread.join()
    for peer in peers:
        peer.connection.close()
    study = rb.studies.open("routes", storage=storage)
    table = study.history()
    stored = {
        number: dict(zip(rows["arm"], rows["outcome"], strict=True)) for number, rows in table.groupby("decision_id")
    }
    answered = {number: told for peer in peers for number, told in peer.told.items()}
    assert len(answered) >= ENOUGH
    assert answered.items() <= stored.items() or all(stored[number] == told for number, told in answered.items())
    for peer in peers:
        for number, arms in peer.asked.items():
            assert study.explain(number).chosen.super_arm == arms
    study.close()

    # It goes on where it was, and lets a request that is underway finish when it is told to end.
    process, port = start(storage, tmp_path)
    peer = Peer(port)
    peer.round()
    slow = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    slow.putrequest("POST", "/v1/studies/routes/ask")
    slow.putheader("Content-Type", "application/json")
    slow.putheader("Content-Length", "2")
    slow.endheaders()
    peer.round()
    process.send_signal(signal.SIGTERM)
    slow.send(b"{}")
    answer = slow.getresponse()
    assert answer.status == 200
    number = json.loads(answer.read())["id"]
    slow.close()
    peer.connection.close()
    assert process.wait(timeout=60) in (0, -signal.SIGTERM)
    process.stderr.close()
    assert rb.studies.open("routes", storage=storage).decisions == number
