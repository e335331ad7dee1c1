"""Reads an exported job with Harbor's own models, and says what they refuse.

python bench/harbor/readback.py JOB_DIR
"""

import json
import sys
from pathlib import Path

from harbor.models.job.lock import JobLock, TrialLock
from harbor.models.job.result import JobResult
from harbor.models.trial.artifact_manifest import ArtifactManifestEntry
from harbor.models.trial.result import TrialResult

job = Path(sys.argv[1])
loaded, refused = {}, []


def load(kind: str, model, path: Path) -> None:
    try:
        model(path.read_text())
        loaded[kind] = loaded.get(kind, 0) + 1
    except Exception as error:
        refused.append(f"{path}: {error}")


load("job results", JobResult.model_validate_json, job / "result.json")
load("job locks", JobLock.model_validate_json, job / "lock.json")
for trial in sorted(p.parent for p in job.glob("*/result.json")):
    load("trial results", TrialResult.model_validate_json, trial / "result.json")
    load("trial locks", TrialLock.model_validate_json, trial / "lock.json")
    for manifest in sorted([*trial.glob("artifacts/manifest.json"), *trial.glob("steps/*/artifacts/manifest.json")]):
        load("manifests", lambda text: [ArtifactManifestEntry.model_validate(e) for e in json.loads(text)], manifest)
print(json.dumps(loaded))
for line in refused:
    print(line)
sys.exit(1 if refused else 0)
