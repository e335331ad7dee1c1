# For scripts that run daemons in a process namespace of their own, so that nothing
# of them outlives it. The script that sources this has set pidfile, and dir, which is
# one of the arguments of its unshare.

# first: the pid of unshare, with which all others end, if it runs. The file alone
# proves nothing: the number may be another process's by now.
first() {
	local pid
	pid=$(cat "$pidfile" 2>/dev/null) || return 1
	[ "$(basename "$(readlink "/proc/$pid/exe" 2>/dev/null)")" = unshare ] &&
		tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qxF -- "$dir" && echo "$pid"
}

# inside PID: the processes of the namespace that PID, unshare, has made.
inside() {
	local of proc
	of=$(readlink "/proc/$1/ns/pid_for_children" 2>/dev/null) || return 0
	# It has not come to that yet.
	[ "$of" != "$(readlink /proc/self/ns/pid)" ] || return 0
	for proc in /proc/[0-9]*; do
		[ "$(readlink "$proc/ns/pid" 2>/dev/null)" != "$of" ] || echo "${proc#/proc/}"
	done
}

# gone SECONDS PID...: waits until none of them is left.
gone() {
	local tries=$(($1 * 10)) pid
	shift
	for pid in "$@"; do
		# One whose first thread has ended has its files as long as another has not.
		while [ -e "/proc/$pid" ] && [ "$(cut -d ' ' -f 3 "/proc/$pid/stat" 2>/dev/null)$(ls "/proc/$pid/task" 2>/dev/null | wc -l)" != Z1 ]; do
			[ $tries -gt 0 ] || return 1
			tries=$((tries - 1))
			sleep 0.1
		done
	done
}

# end: kills all of it and waits until nothing is left.
end() {
	local pid pids
	pid=$(first) || return 0
	mapfile -t pids < <(inside "$pid")
	# --kill-child: the first process of the namespace goes along, and with that all others.
	kill -KILL "$pid"
	gone 60 "$pid" "${pids[@]}" || fail "not all of these ended when killed: $pid ${pids[*]}"
	rm -f "$pidfile"
}
