"""Options that fevalgraph passes, and fixtures shared by the tests."""

import os
import shlex
from pathlib import Path

import pytest


def pytest_addoption(parser):
    parser.addoption("--entrypoint", action="store", required=True)
    parser.addoption("--checkpoint", action="store", required=True)


@pytest.fixture(scope="session")
def entrypoint(request):
    return shlex.split(request.config.getoption("--entrypoint"))


@pytest.fixture(scope="session")
def texts():
    return Path(os.environ["SCBENCH_ASSET_TEXTS"])
