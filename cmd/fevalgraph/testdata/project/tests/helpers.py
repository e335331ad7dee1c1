"""What the tests share."""

from pathlib import Path


def source():
    return Path("kv.py").read_text()
