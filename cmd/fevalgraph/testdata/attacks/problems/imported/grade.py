import importlib.util
import json

with open("cases.json") as f:
    cases = json.load(f)

spec = importlib.util.spec_from_file_location("answer", "answer/main.py")
answer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(answer)


def check(case):
    return answer.add(*case["of"]) == case["is"]


def main():
    score = 0
    if all(map(check, cases)):
        score = 100
    import late
    late.show(json.dumps(score))


main()
