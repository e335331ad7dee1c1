"""Count words, in a hurry: punctuation stays on them."""

import collections
import sys

words = open(sys.argv[1]).read().lower().split()
for word, n in collections.Counter(words).most_common():
    print(word, n)
