"""Counts against a test's limit only the time that the machine gave it.

pytest-timeout ends a test at its limit, in seconds of the clock. While other programs keep the processors
busy, that judges the machine. So at the limit this plugin estimates how long the test's programs waited for
a processor, and ends the test only once the rest of the time reaches the limit. Where programs outside of
the session use less than half of the processors, all time counts: a program that slows itself down gains
nothing. PYTEST_DONT_REWRITE: it asserts nothing.
"""

import os
import signal
import time

import pytest

# What other programs must use of all processors.
SHARE = 0.5
# The limit of the clock, as a multiple of the test's.
MOST = 64

INITIAL_NAMESPACE = 0xEFFFFFFC


def sees_session_alone():
    """Reports whether /proc has the session's processes and no others."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino != INITIAL_NAMESPACE and os.path.exists("/proc/self/schedstat")
    except OSError:
        return False


# What reading a file of a process raises once it has ended.
ENDED = (FileNotFoundError, ProcessLookupError)


def fields(path):
    """Returns the fields of a stat file of a process, from the third one on."""
    with open(path) as file:
        return file.read().rpartition(")")[2].split()


class Usage:
    """What the machine and the session have used until now, in seconds."""

    def __init__(self):
        tick = os.sysconf("SC_CLK_TCK")
        self.time = time.monotonic()
        with open("/proc/stat") as file:
            user, nice, system, idle, wait, *interrupts = map(int, file.readline().split()[1:9])
        self.machine = (user + nice + system + sum(interrupts)) / tick
        # Ended processes count with the one that waited for them: this one, or the first of the session.
        ended = fields("/proc/1/stat")[13:15] if os.getpid() != 1 else (0, 0)
        self.session = sum(os.times()[:4]) + sum(map(int, ended)) / tick
        self.waited = waits(os.getpid())


def waits(pid):
    """Returns for how long each thread of a process ran, and waited for a processor."""
    found = {}
    for thread in os.listdir("/proc/%d/task" % pid):
        try:
            with open("/proc/%d/task/%s/schedstat" % (pid, thread)) as file:
                ran, waited, _ = file.read().split()
        except ENDED:
            continue
        found[thread] = int(ran) / 1e9, int(waited) / 1e9
    return found


class Limit:
    """The limit of a test, in place of pytest-timeout's handler of the signal."""

    def __init__(self, seconds, handler):
        self.seconds, self.handler = seconds, handler
        self.began = Usage()

    def __call__(self, signum, frame):
        __tracebackhide__ = True
        taken = 0.0
        try:
            taken = self.taken()
        except (OSError, ValueError, IndexError):
            pass  # a file of another kernel: all time counts
        passed = time.monotonic() - self.began.time
        left = self.seconds - (passed - taken)
        if left > self.seconds / 100 and passed < MOST * self.seconds:
            signal.setitimer(signal.ITIMER_REAL, left)
            return
        try:
            self.handler(signum, frame)
        except pytest.fail.Exception as failed:
            if taken > self.seconds / 10 and failed.msg:
                failed.msg += " Waits for other programs did not count."
            raise

    def taken(self):
        """Returns how long the test's programs have waited for processors that other programs used."""
        now, began = Usage(), self.began
        tick, processors = os.sysconf("SC_CLK_TCK"), os.cpu_count() or 1
        passed = now.time - began.time
        used = now.session - began.session
        threads = {}
        for thread, (ran, waited) in now.waited.items():
            ran0, waited0 = began.waited.get(thread, (0, 0))
            threads[thread] = ran - ran0, waited - waited0
        start = time.clock_gettime(time.CLOCK_BOOTTIME) - passed
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            if pid in (1, os.getpid()):
                continue
            try:
                stat = fields("/proc/%d/stat" % pid)
                used += sum(map(int, stat[11:15])) / tick
                if int(stat[19]) / tick >= start:
                    threads.update(waits(pid))
            except ENDED:
                pass
        if now.machine - began.machine - used < SHARE * processors * passed:
            return 0.0
        # Waits of ended programs are unknown, so they are assumed to have got the same share of the time.
        ran = sum(t[0] for t in threads.values())
        waited = sum(t[1] for t in threads.values())
        estimate = used * waited / ran if ran else 0.0
        return min(max([estimate, *(t[1] for t in threads.values())]), passed - used / processors)


if sees_session_alone():

    @pytest.hookimpl(hookwrapper=True)
    def pytest_timeout_set_timer(item, settings):
        yield
        handler = signal.getsignal(signal.SIGALRM)
        if settings.method == "signal" and callable(handler):
            try:
                signal.signal(signal.SIGALRM, Limit(settings.timeout, handler))
            except (OSError, ValueError, IndexError):
                pass  # a file of another kernel, or another thread
