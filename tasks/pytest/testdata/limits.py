"""Checks that processes and threads which end while fevalgraph_limits reads them are left out."""

import os
import subprocess
import sys
import time
import types

sys.modules["pytest"] = types.SimpleNamespace(hookimpl=lambda **_: lambda hook: hook)
import fevalgraph_limits as limits

limit = limits.Limit(20, None)
time.sleep(0.1)  # more than a tick: the child belongs to the test
child = subprocess.Popen(["sleep", "600"])
gone = []


def open_unless(ended):
    def opened(path):
        if path.startswith(ended):
            gone.append(path)
            raise ProcessLookupError(path)
        return open(path)

    return opened


try:
    for ended in ("/proc/%d/stat" % child.pid, "/proc/%d/task/" % child.pid, "/proc/%d/task/" % os.getpid()):
        limits.open = open_unless(ended)
        limit.taken()
        assert gone, ended
        gone.clear()
finally:
    child.kill()
    child.wait()
print("ok")
