import subprocess


def test_shouts(entrypoint):
    shouted = subprocess.run([*entrypoint, "--shout", "Ada"], capture_output=True, text=True)
    assert shouted.stdout == "HELLO, ADA!\n"
