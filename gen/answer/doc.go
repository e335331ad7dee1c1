// Package answer turns what a model said into files. An answer is hostile: its paths are
// checked before anything is done with them, its size is bounded, and nothing of it is run.
//
// An answer holds fenced blocks of code. A block that is named is a file, whole:
//
//	```python tally.py          also ```tally.py, ```python:tally.py, ```python title="tally.py"
//	...
//	```
//
// or it is named by the line above it: **tally.py**, `tally.py`:, ### File: tally.py. Where no
// block is named, the longest is the one file that was asked for. Diffs are refused.
package answer
