from helpers import source


# fake: test_expire kv.py~def.expire
def test_expire():
    assert "def expire" in source()
