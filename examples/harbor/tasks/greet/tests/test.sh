#!/bin/bash
# The reward is 1 if all cases are correct.
right=0
[ "$(sh greet.sh Ada)" = "Hello, Ada!" ] && right=$((right + 1))
[ "$(sh greet.sh)" = "Hello!" ] && right=$((right + 1))
echo "{\"reward\": $((right / 2)), \"cases\": $right}" >/logs/verifier/reward.json
