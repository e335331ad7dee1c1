import json

import pytest
from helpers import lines, run


@pytest.mark.parametrize("n", [1, 2])
def test_top(entrypoint, texts, n):
    assert len(lines(entrypoint, "--top", n, texts / "rain.txt")) == n


def test_json(entrypoint, texts):
    text = "\n".join(lines(entrypoint, "--json", texts / "rain.txt"))
    assert json.loads(text)["rain"] == 3


@pytest.mark.report
def test_json_keeps_the_order(entrypoint, texts):
    text = "\n".join(lines(entrypoint, "--json", texts / "rain.txt"))
    assert next(iter(json.loads(text))) == "rain"


@pytest.mark.error
@pytest.mark.parametrize("n", ["0", "-1"])
def test_top_below_one(entrypoint, texts, n):
    done = run(entrypoint, f"--top={n}", texts / "rain.txt")
    assert done.returncode == 2
    assert done.stderr.startswith("tally:")
