# Functions for scripts that run daemons in a new PID namespace, which no process outlives. The sourcing script sets
# pidfile, and dir, which is an argument of its unshare.

# root_pid prints the pid of unshare if it is running; all other processes end with it. The pid file does not suffice,
# since process ids are reused.
root_pid() {
	local pid
	pid=$(cat "$pidfile" 2>/dev/null) || return 1
	[ "$(basename "$(readlink "/proc/$pid/exe" 2>/dev/null)")" = unshare ] &&
		tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qxF -- "$dir" && echo "$pid"
}

# members PID: prints the pids of the processes in the namespace that unshare, PID, created.
members() {
	local namespace proc
	namespace=$(readlink "/proc/$1/ns/pid_for_children" 2>/dev/null) || return 0
	# unshare has not created it yet.
	[ "$namespace" != "$(readlink /proc/self/ns/pid)" ] || return 0
	for proc in /proc/[0-9]*; do
		[ "$(readlink "$proc/ns/pid" 2>/dev/null)" != "$namespace" ] || echo "${proc#/proc/}"
	done
}

# await_exit SECONDS PID...: waits until all have ended.
await_exit() {
	local tries=$(($1 * 10)) pid
	shift
	for pid in "$@"; do
		# A process whose main thread has ended keeps its files open while other threads run.
		while [ -e "/proc/$pid" ] && [ "$(cut -d ' ' -f 3 "/proc/$pid/stat" 2>/dev/null)$(ls "/proc/$pid/task" 2>/dev/null | wc -l)" != Z1 ]; do
			[ $tries -gt 0 ] || return 1
			tries=$((tries - 1))
			sleep 0.1
		done
	done
}

# kill_all kills all processes and waits until they have ended.
kill_all() {
	local pid pids
	pid=$(root_pid) || return 0
	mapfile -t pids < <(members "$pid")
	# unshare --kill-child kills the first process of the namespace, and so all others.
	kill -KILL "$pid"
	await_exit 60 "$pid" "${pids[@]}" || fail "some of these processes are still running after SIGKILL: $pid ${pids[*]}"
	rm -f "$pidfile"
}
