"""Declares the options that pytest is started with, if no conftest.py does, and what tests read of them."""

import shlex

import pytest


@pytest.hookimpl(trylast=True)
def pytest_load_initial_conftests(parser, args):
    known, unknown = parser.parse_known_and_unknown_args(args)
    for option in ("--entrypoint", "--checkpoint"):
        # An unknown option with a space in it is taken for a file.
        if any(str(word).startswith(option + "=") for word in [*unknown, *known.file_or_dir]):
            parser.addoption(option)


@pytest.fixture(scope="session")
def entrypoint(pytestconfig):
    """The words of the command that starts the solution."""
    return shlex.split(pytestconfig.getoption("entrypoint"))
