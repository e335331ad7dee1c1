# For scripts that run a command beside daemons of their own, which a trap on EXIT ends: runs
# the arguments of the script that sources this, and exits as they do.

# A group of its own, which can be told to end as a whole; with it, an interrupt
# is not ignored there, as by what a shell runs beside itself.
set -m
"$@" &
command=$!
set +m
trap 'kill -TERM -- "-$command" 2>/dev/null || true' INT TERM HUP
code=0
wait "$command" || code=$?
# A signal ends the waiting, not the command.
while kill -0 "$command" 2>/dev/null; do
	wait "$command" || code=$?
done
exit "$code"
