"""The OpenAPI text is what the service does: Schemathesis makes requests from it and judges the answers."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from service_kit import make

from rising_bandits.serve import Limits, make_app, routes
from rising_bandits.serve.openapi import document
from rising_bandits.serve.operations import OPERATIONS

schemathesis = pytest.importorskip("schemathesis")
routes.load()
DOCUMENT = document(OPERATIONS)
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
# A stream never ends; a transaction of the storage holds a lock until its lease is over.
LEFT_OUT = ("/v1/studies/{study}/events", "/v1/storage/begin")


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A function that sends the request of a case to a service with a study."""
    from service_kit import Client

    storage = f"sqlite:///{tmp_path_factory.mktemp('openapi')}/studies.db"
    with make(storage) as study:
        study.tell(study.ask(), {})
    with Client(make_app(storage, limits=Limits(rate=0))) as client:
        yield client


@pytest.mark.parametrize(
    "place",
    [(each.path, each.method) for each in OPERATIONS if each.path not in LEFT_OUT],
    ids=lambda pair: " ".join(pair),
)
def test_every_answer_is_one_that_the_text_describes(place, asked):
    path, method = place

    @settings(
        max_examples=4,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=SCHEMA[path][method].as_strategy())
    def check(case):
        judge(asked, case)

    check()


def judge(client, case):
    """Send the request of a case, and look whether the text describes the answer."""
    named = dict(case.path_parameters or {})
    if "study" in named:
        named["study"] = "none" if case.method.upper() == "DELETE" else "routes"
    url = case.path
    for name, value in named.items():
        url = url.replace(f"{{{name}}}", quote(str(value), safe=""))
    headers = {name: str(value) for name, value in (case.headers or {}).items() if str(value).isascii()}
    headers = {name: value for name, value in headers.items() if value.isprintable()}
    options = {"headers": headers, "params": {name: str(value) for name, value in (case.query or {}).items()}}
    if SCHEMA[case.path][case.method].body and isinstance(case.body, dict | list):
        options["json"] = case.body
    answer = client.request(case.method, url, **options)
    assert answer.status_code < 500, answer.text
    described = DOCUMENT["paths"][case.path][case.method.lower()]["responses"]
    assert str(answer.status_code) in described
    kind = answer.headers["content-type"].partition(";")[0]
    if answer.status_code >= 400:
        assert kind == "application/problem+json"
        assert set(answer.json()) >= {"title", "status", "detail"}
    else:
        assert kind in described["200"]["content"] or case.path.startswith("/static")


def test_every_operation_is_described_and_says_its_right():
    made = document(OPERATIONS)
    assert made["openapi"] == "3.1.0"
    for each in OPERATIONS:
        said = made["paths"][each.path][each.method.lower()]
        assert said["summary"].endswith(".")
        assert (said["security"] == []) is (each.right is None)
