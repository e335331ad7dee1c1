import pytest
from helpers import lines, run


def test_counts(entrypoint, texts):
    assert lines(entrypoint, texts / "rain.txt")[0] == "rain 3"


def test_case_is_folded(entrypoint, texts):
    assert "the 2" in lines(entrypoint, texts / "rain.txt")


@pytest.mark.report
def test_equal_counts_are_alphabetical(entrypoint, texts):
    singles = [l for l in lines(entrypoint, texts / "rain.txt") if l.endswith(" 1")]
    assert singles == sorted(singles)


@pytest.mark.functionality
def test_empty_file(entrypoint, texts):
    assert lines(entrypoint, texts / "empty.txt") == []


@pytest.mark.error
def test_no_file(entrypoint):
    assert run(entrypoint).returncode != 0
