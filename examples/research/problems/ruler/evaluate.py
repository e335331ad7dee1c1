import json
import sys

sys.path.insert(0, "../common")
from ask import ask

MARKS = 10
BEST = 55  # the shortest ruler with ten marks

marks = ask("../../answer/solution.py", MARKS)
if len(marks) != MARKS or any(type(m) is not int for m in marks):
    sys.exit(f"error: not {MARKS} whole numbers")
marks = sorted(marks)
apart = [b - a for i, a in enumerate(marks) for b in marks[i + 1:]]
length = marks[-1] - marks[0]
score = 100 * BEST / length if len(set(apart)) == len(apart) else 0
with open("results.json", "w") as f:
    json.dump({"score": min(score, 100), "score_unbounded": score, "length": length}, f)
print(f"{len(set(apart))} of {len(apart)} distances, length {length}")
