"""Count the words of texts."""

import argparse
import collections
import json
import pathlib
import re
import sys


def main():
    parser = argparse.ArgumentParser(prog="tally")
    parser.add_argument("--top", type=int)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    if args.top is not None and args.top < 1:
        print("tally: --top must be at least 1", file=sys.stderr)
        return 2
    counter = collections.Counter()
    for file in args.files:
        try:
            counter.update(re.findall(r"[^\W\d_]+", file.read_text().lower()))
        except OSError as e:
            print(f"tally: {file}: {e.strerror}", file=sys.stderr)
            return 2
    counts = sorted(counter.items(), key=lambda x: (-x[1], x[0]))[: args.top]
    if args.json:
        print(json.dumps(dict(counts)))
    else:
        for word, n in counts:
            print(word, n)
    return 0


if __name__ == "__main__":
    sys.exit(main())
