# Prints the percentage of correct cases.
right=0
for n in 0 1 2 10; do
	want=$(i=$n; while [ "$i" -gt 0 ]; do echo "$i"; i=$((i - 1)); done)
	got=$(sh ../solution/countdown.sh "$n")
	[ "$got" = "$want" ] && right=$((right + 1))
done
echo $((right * 25))
