import subprocess
import sys

try:
    done = subprocess.run([sys.executable, "answer/main.py", "40", "2"], capture_output=True, text=True, timeout=@PROGRAM@)
    said = done.stdout.strip()
except subprocess.TimeoutExpired:
    said = ""
from late import score  # noqa: E402

score.write(said)
