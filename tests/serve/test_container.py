"""The container cannot be built here. What its files say of the project must be so."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
import urllib.error
from pathlib import Path

import pytest
from service_kit import MAIN

from rising_bandits.cli.app import command
from rising_bandits.errors import InputError
from rising_bandits.serve import Limits, Tokens, make_app
from rising_bandits.serve.run import DRAIN, check_exposure

ROOT = Path(__file__).parents[2]
CONTAINER = (ROOT / "Containerfile").read_text(encoding="utf-8")
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
ENTRY = json.loads(re.search(r"^ENTRYPOINT (.*)$", CONTAINER, re.MULTILINE)[1])


def test_the_files_and_extras_that_are_installed_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = re.search(r"'\.\[(.*)\]'", CONTAINER)[1].split(",")
    assert set(extras) <= set(project["optional-dependencies"])
    copied = [word for line in re.findall(r"^COPY (?!--)(.*)$", CONTAINER, re.MULTILINE) for word in line.split()[:-1]]
    assert all((ROOT / name).exists() for name in copied)
    # What the build of the wheel reads is among them, and nothing that is copied is kept away from the builder.
    assert {"pyproject.toml", project["readme"], *project["license-files"], "src"} <= set(copied)
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert let_in == set(copied)
    assert "rising" in project["scripts"]
    assert re.search(r"ARG BASE=.*python:3\.(\d+)", CONTAINER)[1] in {"11", "12", "13"}


def test_the_command_of_the_container_is_one_and_needs_a_token():
    assert ENTRY[:2] == ["rising", "serve"]
    context = command().commands["serve"].make_context("rising serve", list(ENTRY[2:]))
    assert context.params["host"] == "0.0.0.0"
    assert f"EXPOSE {context.params['port']}" in CONTAINER
    assert f'"127.0.0.1:{context.params["port"]}:{context.params["port"]}"' in COMPOSE
    with pytest.raises(InputError, match="RISING_TOKEN"):
        check_exposure(context.params["host"], Tokens())
    check_exposure(context.params["host"], Tokens(MAIN))
    options = {option.envvar for option in command().commands["serve"].params if option.envvar}
    named = set(re.findall(r"^ +(RISING_\w+):", COMPOSE, re.MULTILINE))
    assert named - {"RISING_TOKEN"} <= options
    # Requests that are underway may finish before the container is killed.
    assert int(re.search(r"stop_grace_period: (\d+)s", COMPOSE)[1]) > DRAIN


def test_the_health_check_passes_while_the_service_is_ready_and_fails_afterwards(storage, served):
    app = make_app(storage, tokens=Tokens(MAIN), limits=Limits(rate=0))
    address = served(app)
    check = json.loads(re.search(r"^HEALTHCHECK .*CMD (.*)$", CONTAINER, re.MULTILINE)[1])
    assert check[:2] == ["python", "-c"]
    code = check[2].replace("http://127.0.0.1:8765", address)
    exec(code, {})
    app.state.rising.hub.draining.set()
    with pytest.raises(urllib.error.HTTPError, match="503"):
        exec(code, {})


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl")
def test_the_compose_file_asks_for_what_must_be_set(tmp_path):
    assert set(re.findall(r"\$\{(\w+):\?", COMPOSE)) == {"RISING_TOKEN", "POSTGRES_PASSWORD"}
    line = (ROOT / "docs" / "guide" / "service.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^    (\(umask 077; .* > \.env\))$", line, re.MULTILINE)
    subprocess.run(["bash", "-ec", shown], cwd=tmp_path, check=True)
    made = dict(entry.split("=", 1) for entry in (tmp_path / ".env").read_text().splitlines())
    assert set(made) == {"RISING_TOKEN", "POSTGRES_PASSWORD"}
    # The password becomes a part of an address as it is.
    assert made["POSTGRES_PASSWORD"].isalnum()
    assert Tokens(made["RISING_TOKEN"]).needed
    if os.name == "posix":
        assert (tmp_path / ".env").stat().st_mode & 0o077 == 0
