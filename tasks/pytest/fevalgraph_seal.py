"""Hands pytest's reports on so that no other process can change them.

It is loaded with -p before anything of the tests. Until pytest has ended the reports are in
files that only this process can open; what is then written into the workspace is sealed with
a key that was removed from it before the first test began.

It asserts nothing: PYTEST_DONT_REWRITE saves pytest the time to look.
"""

import hashlib
import hmac
import json
import os
import shutil
import sys

import pytest

REPORTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


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


class Seal:
    """Has the reports written to files without a name, and seals them."""

    def __init__(self, key, config):
        self.key, self.config = key, config
        self.files = {}

    def divert(self):
        for option in ("json_report_file", "ctrf"):
            path = getattr(self.config.option, option, None)
            if not path:
                continue
            file = None
            if sys.platform == "linux":
                file = os.fdopen(os.memfd_create(option), "rb")
                setattr(self.config.option, option, "/proc/self/fd/%d" % file.fileno())
            self.files[option] = (path, file)

    def restore(self):
        for option, (path, _) in self.files.items():
            setattr(self.config.option, option, path)
        report = getattr(self.config, "_json_report", None)
        said = getattr(report, "_terminal_summary", None)
        if isinstance(said, str) and "/proc/self/fd/" in said:
            report._terminal_summary = "report saved to: " + self.files["json_report_file"][0]

    def write(self):
        sealed = {}
        for path, file in self.files.values():
            name = os.path.basename(path)
            target = os.path.join(REPORTS, name)
            if file is None and os.path.isfile(target):
                file = open(target, "rb")
            content = file.read() if file else b""
            if content:
                sealed[name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
                place(target, content)
        said = json.dumps(sealed).encode()
        place(os.path.join(REPORTS, "seal"), hmac.new(self.key, said, "sha256").hexdigest().encode() + b" " + said)


def place(path, content):
    """Writes a file, whatever is in its way."""
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
seal = None


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    global KEY, seal
    if KEY:
        seal, KEY = Seal(KEY, config), None
        seal.divert()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish():
    if seal:
        seal.restore()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure():
    if seal:
        seal.write()
