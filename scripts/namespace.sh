# For scripts that run daemons in a separate process namespace, so that no process outlives it. The sourcing
# script sets pidfile, and dir, which is an argument of its unshare.

# first: the pid of unshare, if it runs; all others end with it. The file alone proves nothing: another process
# can have the number now.
first() {
	local pid
	pid=$(cat "$pidfile" 2>/dev/null) || return 1
	[ "$(basename "$(readlink "/proc/$pid/exe" 2>/dev/null)")" = unshare ] &&
		tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qxF -- "$dir" && echo "$pid"
}

# inside PID: the processes of the namespace that unshare, PID, created.
inside() {
	local of proc
	of=$(readlink "/proc/$1/ns/pid_for_children" 2>/dev/null) || return 0
	# The namespace does not exist yet.
	[ "$of" != "$(readlink /proc/self/ns/pid)" ] || return 0
	for proc in /proc/[0-9]*; do
		[ "$(readlink "$proc/ns/pid" 2>/dev/null)" != "$of" ] || echo "${proc#/proc/}"
	done
}

# gone SECONDS PID...: waits until all have ended.
gone() {
	local tries=$(($1 * 10)) pid
	shift
	for pid in "$@"; do
		# A process whose first thread has ended keeps its files while other threads run.
		while [ -e "/proc/$pid" ] && [ "$(cut -d ' ' -f 3 "/proc/$pid/stat" 2>/dev/null)$(ls "/proc/$pid/task" 2>/dev/null | wc -l)" != Z1 ]; do
			[ $tries -gt 0 ] || return 1
			tries=$((tries - 1))
			sleep 0.1
		done
	done
}

# end: kills all processes and waits until they have ended.
end() {
	local pid pids
	pid=$(first) || return 0
	mapfile -t pids < <(inside "$pid")
	# --kill-child: the first process of the namespace ends too, and with it all others.
	kill -KILL "$pid"
	gone 60 "$pid" "${pids[@]}" || fail "not all of these ended when killed: $pid ${pids[*]}"
	rm -f "$pidfile"
}
