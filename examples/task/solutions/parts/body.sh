while read -r number; do
	if [ -n "$before" ] && [ "$number" -gt "$before" ]; then run=$((run + 1)); else run=1; fi
	[ "$run" -gt "$longest" ] && longest=$run
	before=$number
done
echo "$longest"
