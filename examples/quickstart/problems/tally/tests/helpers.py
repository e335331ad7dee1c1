"""Running the program under test."""

import subprocess


def run(entrypoint, *args):
    """Run the program with args and return the finished process."""
    return subprocess.run(
        [*entrypoint, *map(str, args)], capture_output=True, text=True, timeout=10
    )


def lines(entrypoint, *args):
    """Run the program, which must succeed, and return its output lines."""
    done = run(entrypoint, *args)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
