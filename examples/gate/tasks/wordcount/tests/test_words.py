import subprocess

import pytest


def count(entrypoint, text):
    return subprocess.run(entrypoint, input=text, capture_output=True, text=True).stdout


@pytest.mark.parametrize("text, words", [("one two", "2\n"), ("", "0\n"), ("a\n\nb  c", "3\n")])
def test_counts(entrypoint, text, words):
    assert count(entrypoint, text) == words
