import json
import pathlib


def write(said):
    want = json.loads((pathlib.Path(__file__).parent / "want.json").read_text())
    pathlib.Path("score.json").write_text(json.dumps({"score": 1 if said == want["sum"] else 0}))
