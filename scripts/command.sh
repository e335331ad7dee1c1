# Runs the sourcing script's arguments as a command and exits with its code. A trap of that script ends its daemons.

# A separate process group can be killed as a whole and, unlike a shell's background jobs, handles interrupts.
set -m
"$@" &
command=$!
set +m
trap 'kill -TERM -- "-$command" 2>/dev/null || true' INT TERM HUP
code=0
wait "$command" || code=$?
# A signal interrupts wait, not the command.
while kill -0 "$command" 2>/dev/null; do
	wait "$command" || code=$?
done
exit "$code"
