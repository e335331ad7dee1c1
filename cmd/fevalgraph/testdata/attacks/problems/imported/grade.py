import glob
import importlib.util
import json
import sys

with open("cases.json") as f:
    cases = json.load(f)

spec = importlib.util.spec_from_file_location("answer", "answer/main.py")
answer = importlib.util.module_from_spec(spec)
sys.modules["answer"] = answer
spec.loader.exec_module(answer)
from answer import *

for more in glob.glob("more/*.json"):
    with open(more) as f:
        cases += json.load(f)


def check(case):
    return add(*case["of"]) == case["is"]


def main():
    score = 0
    if all(map(check, cases)):
        score = 100
    import late
    late.show(json.dumps(score))


main()
