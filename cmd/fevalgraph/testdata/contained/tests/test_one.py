import subprocess
import sys
import time


def run(*args):
    return subprocess.run([sys.executable, "kv.py", *args], capture_output=True, text=True, check=True).stdout


def test_get():
    # Long enough to be disturbed.
    time.sleep(0.5)
    assert run("get", "a=1", "a") == "1\n"


def test_absent():
    assert run("get", "a=1", "b") == "None\n"
