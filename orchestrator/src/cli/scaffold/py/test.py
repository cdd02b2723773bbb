"""Without a device: `pytest`."""

import asyncio

import pytest
from packtrain import CommandFailedError

from __NAME__ import __NAME__


def call(mock):
    return asyncio.run(__NAME__("Sign up", "Welcome", mock.ctx))


def test_taps_and_waits(mock_trailblaze):
    assert call(mock_trailblaze) == "Opened Sign up"
    assert mock_trailblaze.names == ["is_visible", "tap", "wait_until_visible"]


def test_taps_nothing_when_it_is_there_already(mock_trailblaze):
    mock_trailblaze.stub("is_visible", True)
    call(mock_trailblaze)
    assert mock_trailblaze.names == ["is_visible"]


def test_fails_when_what_is_expected_does_not_appear(mock_trailblaze):
    error = CommandFailedError("not visible", code="failed_precondition")
    mock_trailblaze.stub("wait_until_visible", error)
    with pytest.raises(CommandFailedError, match="not visible"):
        call(mock_trailblaze)
