"""Reports what pytest did, so that no other process can change it.

It is loaded with -p before anything of the tests. Until pytest has ended its report is in this
process, and those of other plugins are in files that only this process can open; what is then
written into the workspace is sealed with a key that was removed from it before the first test began.

It asserts nothing: PYTEST_DONT_REWRITE saves pytest the time to look.
"""

import hmac
import json
import os
import shutil
import sys

import pytest

REPORTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The bytes of lines until which they have messages, which become shorter: the rest is left for tests, since a
# report that is too large does not count.
ROOM = 10 << 20


def close_to_others():
    """Keeps other processes of this user from this one's memory and open files."""
    try:
        import ctypes

        pr_set_dumpable = 4
        ctypes.CDLL(None).prctl(pr_set_dumpable, 0, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass  # not Linux, which has no isolation, either


def leave_environment():
    """Gives what the tests start the environment that was configured."""
    path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if path[0] == os.path.dirname(os.path.abspath(__file__)):
        os.environ["PYTHONPATH"] = os.pathsep.join(path[1:])
        if len(path) == 1:
            del os.environ["PYTHONPATH"]


def take_key():
    path = os.path.join(REPORTS, "key")
    try:
        with open(path, "rb") as file:
            key = file.read()
    except FileNotFoundError:
        return None  # a worker of pytest-xdist
    os.unlink(path)
    return key


class Reporter:
    """Writes a line for each stage of a test, for each collector that did not pass, and for the end."""

    def __init__(self, key, config):
        self.key, self.config, self.process = key, config, os.getpid()
        self.lines, self.room = [], ROOM
        self.collected, self.early, self.end = 0, "", None
        self.files = {}

    def add(self, stage, report):
        line = {"nodeid": report.nodeid, "stage": stage, "outcome": report.outcome}
        if stage != "collect":
            line["seconds"] = report.duration
        if stage in ("setup", "subtest", "???"):  # the last stands for all stages of a process that crashed
            line["keywords"] = [one for one in report.keywords if len(one) <= 100][:100]
        if report.failed or report.skipped:
            skip = isinstance(report.longrepr, tuple)  # the file, the line and the reason
            message = report.longrepr[2] if skip else report.longreprtext
            line["message"] = shorten(message, max(self.room >> 7, 1 << 10) if self.room > 0 else 0)
            if is_timeout(report):
                line["timeout"] = True
        self.lines.append(json.dumps(line, default=str))
        self.room -= len(self.lines[-1])

    @pytest.hookimpl(trylast=True)
    def pytest_collectreport(self, report):
        self.collected += sum(isinstance(found, pytest.Item) for found in report.result)
        if not report.passed:
            self.add("collect", report)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        subtest = type(report).__name__.lower() == "subtestreport"
        if subtest and report.passed:
            return  # it decides nothing, and there can be many
        self.add("subtest" if subtest else report.when, report)

    def pytest_keyboard_interrupt(self, excinfo):
        self.early = excinfo.exconly(tryshort=True)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        early = self.early or session.shouldfail or session.shouldstop
        collected = self.collected or session.testscollected  # workers of pytest-xdist collect
        self.end = {"exit": int(exitstatus), "collected": collected, "early": str(early or "")}
        for option, (path, _) in self.files.items():
            setattr(self.config.option, option, path)
        report = getattr(self.config, "_json_report", None)
        said = getattr(report, "_terminal_summary", None)
        if isinstance(said, str) and "/proc/self/fd/" in said:
            report._terminal_summary = "report saved to: " + self.files["json_report_file"][0]

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self):
        if self.process != os.getpid():
            return  # a fork that a test made has the key
        if self.end:
            self.lines.append(json.dumps({"end": self.end}))
        self.seal()

    def divert(self):
        """Has other plugins write their reports to files without a name."""
        for option in ("json_report_file", "ctrf"):
            path = getattr(self.config.option, option, None)
            if not path:
                continue
            file = None
            if sys.platform == "linux":
                file = os.fdopen(os.memfd_create(option), "rb")
                setattr(self.config.option, option, "/proc/self/fd/%d" % file.fileno())
            self.files[option] = (path, file)

    def seal(self):
        contents = {"stages": "\n".join(self.lines).encode()}
        for path, file in self.files.values():
            name = os.path.basename(path)
            target = os.path.join(REPORTS, name)
            if file is None and os.path.isfile(target):
                file = open(target, "rb")
            content = file.read() if file else b""
            if content:
                contents[name] = content
        sealed = {}
        for name, content in contents.items():
            place(name, content)
            sealed[name] = hmac.new(self.key, name.encode() + b"\0" + content, "sha256").hexdigest()
        place("seal", json.dumps(sealed).encode())


def is_timeout(report):
    """Reports whether pytest-timeout failed a stage, as this version or an earlier one says."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return getattr(crash, "message", "").replace("(", "", 1).startswith("Failed: Timeout >")


def shorten(text, longest):
    if len(text) <= longest:
        return text
    return text[: longest // 2] + "\n[...]\n" + text[len(text) - longest // 2 :]


def place(name, content):
    """Writes a report, whatever is in its way."""
    path = os.path.join(REPORTS, name)
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            file.write(content)
    except OSError as error:
        sys.stderr.write("fevalgraph: %s\n" % error)


close_to_others()
leave_environment()
KEY = take_key()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    global KEY
    if KEY:
        reporter, KEY = Reporter(KEY, config), None
        reporter.divert()
        config.pluginmanager.register(reporter)
