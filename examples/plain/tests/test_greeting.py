import subprocess


def greet(entrypoint, *words):
    return subprocess.run([*entrypoint, *words], capture_output=True, text=True).stdout


def test_greets(entrypoint):
    assert greet(entrypoint, "Ada") == "Hello, Ada!\n"


def test_greets_nobody(entrypoint):
    assert greet(entrypoint, "") == "Hello!\n"
