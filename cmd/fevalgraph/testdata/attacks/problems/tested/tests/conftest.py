import os
import sys

import pytest

sys.path.insert(0, os.getcwd())


def pytest_addoption(parser):
    parser.addoption("--entrypoint")
    parser.addoption("--checkpoint")


@pytest.fixture
def main():
    import main
    return main
