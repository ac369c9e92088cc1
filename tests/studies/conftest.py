"""A storage for tests of studies."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/studies.db"
