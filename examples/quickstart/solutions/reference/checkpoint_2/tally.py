"""Count the words of a text."""

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
    parser.add_argument("file", type=pathlib.Path)
    args = parser.parse_args()
    if args.top is not None and args.top < 1:
        print("tally: --top must be at least 1", file=sys.stderr)
        return 2
    words = re.findall(r"[^\W\d_]+", args.file.read_text().lower())
    counts = sorted(collections.Counter(words).items(), key=lambda x: (-x[1], x[0]))[: args.top]
    if args.json:
        print(json.dumps(dict(counts)))
    else:
        for word, n in counts:
            print(word, n)
    return 0


if __name__ == "__main__":
    sys.exit(main())
