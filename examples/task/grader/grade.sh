# Runs the solution on every case. The score is the share of answers that equal the oracle's.
right=0
total=0
for case in cases/*.txt; do
	total=$((total + 1))
	[ "$(sh solution.sh <"$case")" = "$(./oracle <"$case")" ] && right=$((right + 1))
done
echo $((100 * right / total))
