# For scripts that run a command next to their own daemons, which a trap on EXIT ends: runs the arguments of the
# sourcing script, and exits with their exit code.

# A separate process group can be ended as a whole, and does not ignore interrupts like background jobs of a
# shell.
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
