// Package answer parses a model's answer into files. An answer is hostile: its paths are checked before any
// use, its size is bounded, and none of it is run.
//
// An answer contains fenced blocks of code. A named block is a whole file:
//
//	```python tally.py          also ```tally.py, ```python:tally.py, ```python title="tally.py"
//	...
//	```
//
// The line above can name it, too: **tally.py**, `tally.py`:, ### File: tally.py. If no block is named, the
// last one in the file's language is the only file. Reasoning between tags such as <think> is ignored. Diffs are
// refused.
package answer
