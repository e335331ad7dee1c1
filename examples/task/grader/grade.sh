# Runs the solution on every case, and scores the share that it agrees about with the oracle.
right=0
total=0
for case in cases/*.txt; do
	total=$((total + 1))
	[ "$(sh solution.sh <"$case")" = "$(./oracle <"$case")" ] && right=$((right + 1))
done
echo $((100 * right / total))
