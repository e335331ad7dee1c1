import pytest
from helpers import source


# fake: test_put kv.py~def.put
def test_put():
    assert "def put" in source()


# fake: test_list kv.py~def.list slow
@pytest.mark.slow
def test_list():
    assert "def list" in source()


# fake: test_bad_key passed error
@pytest.mark.error
def test_bad_key():
    assert source()
