import subprocess
import sys
import time


def test_keys():
    time.sleep(0.5)
    done = subprocess.run([sys.executable, "kv.py", "keys", "a=1"], capture_output=True, text=True, check=True)
    assert done.stdout == "['a']\n"
