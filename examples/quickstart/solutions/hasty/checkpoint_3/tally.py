"""Count words, in a hurry: still one file only."""

import argparse
import collections
import json
import re

parser = argparse.ArgumentParser()
parser.add_argument("--top", type=int)
parser.add_argument("--json", action="store_true")
parser.add_argument("file")
args = parser.parse_args()
counts = collections.Counter(re.findall(r"\w+", open(args.file).read().lower())).most_common(args.top)
if args.json:
    print(json.dumps(dict(counts)))
else:
    for word, n in counts:
        print(word, n)
