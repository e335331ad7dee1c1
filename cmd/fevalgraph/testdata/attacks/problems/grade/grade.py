import json
import pathlib
import subprocess
import sys

want = "42"
try:
    done = subprocess.run([sys.executable, "answer/main.py", "40", "2"], capture_output=True, text=True, timeout=15)
    said = done.stdout.strip()
except subprocess.TimeoutExpired:
    said = ""
pathlib.Path("score.json").write_text(json.dumps({"score": 1 if said == want else 0}))
