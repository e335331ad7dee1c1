#!/bin/bash
# A careful script: it is read whole before it runs anything, and what counts is written
# last, over whatever is there.
main() {
	answer=$(timeout -k 1 @PROGRAM@ python3 /app/main.py 2 40 </dev/null)
	chmod -R u+rwX /logs/verifier
	find /logs/verifier -mindepth 1 -delete
	if [ "$answer" = 42 ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt
	exit
}
main
