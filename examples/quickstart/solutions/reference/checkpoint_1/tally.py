"""Count the words of a text."""

import argparse
import collections
import pathlib
import re


def main():
    parser = argparse.ArgumentParser(prog="tally")
    parser.add_argument("file", type=pathlib.Path)
    args = parser.parse_args()
    words = re.findall(r"[^\W\d_]+", args.file.read_text().lower())
    for word, n in sorted(collections.Counter(words).items(), key=lambda x: (-x[1], x[0])):
        print(word, n)


if __name__ == "__main__":
    main()
