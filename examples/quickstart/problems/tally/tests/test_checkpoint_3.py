import pytest
from helpers import lines, run


def test_files_are_counted_together(entrypoint, texts):
    assert lines(entrypoint, texts / "rain.txt", texts / "snow.txt")[0] == "rain 4"


@pytest.mark.functionality
def test_same_file_twice(entrypoint, texts):
    assert lines(entrypoint, texts / "rain.txt", texts / "rain.txt")[0] == "rain 6"


@pytest.mark.error
def test_missing_file(entrypoint, texts):
    done = run(entrypoint, texts / "rain.txt", texts / "hail.txt")
    assert done.returncode == 2
    assert "hail.txt" in done.stderr
