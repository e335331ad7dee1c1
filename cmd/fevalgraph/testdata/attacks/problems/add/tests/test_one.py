import json
import pathlib
import shlex
import subprocess

import pytest

CASES = pathlib.Path(__file__).parent / "cases"


def ask(entrypoint, *numbers):
    done = subprocess.run([*shlex.split(entrypoint), *numbers], capture_output=True, text=True, timeout=@PROGRAM@)
    return done.stdout.strip()


def test_small(entrypoint):
    assert ask(entrypoint, "1", "2") == "3"


def test_late(entrypoint):
    said = ask(entrypoint, "40", "2")
    assert said == json.loads((CASES / "late.json").read_text())["sum"]


@pytest.mark.error
def test_negative(entrypoint):
    assert ask(entrypoint, "-1", "-2") == "-3"
