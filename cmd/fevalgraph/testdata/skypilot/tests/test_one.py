from pathlib import Path


def test_put():
    assert "def put" in Path("kv.py").read_text()


def test_list():
    assert "def list" in Path("kv.py").read_text()
