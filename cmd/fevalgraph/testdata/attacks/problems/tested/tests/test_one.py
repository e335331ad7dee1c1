import json
import pathlib
import subprocess
import sys

import pytest

CASES = json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())


def test_small(main):
    assert main.add(1, 2) == 3


@pytest.mark.parametrize("case", CASES)
def test_cases(main, case):
    import late
    late.check(main.add(*case["of"]), case["is"])


def test_started(main):
    subprocess.run([sys.executable, "main.py"], capture_output=True, timeout=@PROGRAM@)
    assert main.add(20, 3) == 23


@pytest.mark.error
def test_text(main):
    with pytest.raises(TypeError):
        main.add("a", 1)
    assert main.add(-1, -2) == -3
