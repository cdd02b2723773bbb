"""Fixtures for tests of tools. Installed with the SDK; pytest finds it by itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .testing import MockTrailblaze


@pytest.fixture
def mock_trailblaze() -> MockTrailblaze:
    """An Android device that is not there."""
    return MockTrailblaze("android")


@pytest.fixture
def mock_trailblaze_ios() -> MockTrailblaze:
    """An iOS device that is not there."""
    return MockTrailblaze("ios")


@pytest.fixture
def mock_trailblaze_web() -> MockTrailblaze:
    """A web page that is not there."""
    return MockTrailblaze("web")


@pytest.fixture
def make_mock_trailblaze() -> Callable[..., MockTrailblaze]:
    """Makes devices that are not there: `make_mock_trailblaze("web", memory={"who": "Ada"})`."""
    return MockTrailblaze
