import subprocess

import pytest


@pytest.mark.parametrize("number, numeral", [(1, "I"), (4, "IV"), (1994, "MCMXCIV")])
def test_numerals(entrypoint, number, numeral):
    out = subprocess.run([*entrypoint, str(number)], capture_output=True, text=True)
    assert out.stdout.strip() == numeral
