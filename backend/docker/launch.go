package docker

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
)

// What a launching script says on the container's standard output, each on a
// line of its own. The first word decides; after wordReady nothing counts,
// because then the program runs and could say it, too.
const (
	wordPrefix = "fevalgraph: "

	wordReady   = "ready"   // the next thing is the program
	wordAbsent  = "absent"  // the program is not there
	wordRefused = "refused" // it is there and may not be executed
	wordGone    = "gone"    // the workspace is not to be entered
	wordNoDir   = "nodir"   // the command's directory is not there
	wordOutside = "outside" // it leads out of the workspace
	wordNetwork = "network" // there is a network where none may be
	wordNoEnv   = "noenv"   // the image has no env
)

// launch is a command as a script for the container's shell, which must run
// in dash, busybox and bash alike.
type launch struct {
	top     string // the workspace; "" for a script that needs none
	command backend.Command
	env     []string // complete
	offline bool     // refuse to run with a network
	// attached has the program on the script's own streams, those of a person,
	// who hears of refusals.
	attached bool
	// token, unless it is empty, has the script wait for the program and then say
	// how many processes were killed because memory ran out; see counted.
	token string
}

// script returns the text. Apart from what it says on standard output it
// leaves no trace: the program gets its own environment, an empty standard
// input, and both outputs as one; or, when its errors are to be apart, its
// outputs exchanged.
func (l *launch) script() (string, error) {
	if len(l.command.Argv) == 0 || l.command.Argv[0] == "" {
		return "", errors.New("no program is named")
	}
	for _, text := range slices.Concat(l.command.Argv, l.env) {
		if strings.Contains(text, "\x00") {
			return "", errors.New("a NUL byte in the command or its environment")
		}
	}
	dir, err := workspace.Relative(l.command.Dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	say := func(word string) string { return "echo '" + wordPrefix + word + "'" }
	refusal, streams := "; exit 0; }", " </dev/null >&2"
	if l.command.Errors != nil {
		streams = " </dev/null 3>&1 1>&2 2>&3 3>&-"
	}
	if l.attached {
		refusal, streams = "; exit 127; }", ""
	}
	refuse := func(word string) string { return "{ " + say(word) + refusal }
	b.WriteString("command -v env >/dev/null || " + refuse(wordNoEnv) + "\n")
	if l.offline {
		b.WriteString(offlineGuard(refuse(wordNetwork)))
	}
	top := quote(l.top)
	// A program may have locked its own workspace; that must not keep the next
	// one out.
	b.WriteString("cd -P -- " + top + " 2>/dev/null || { chmod u+rwx " + top + " && cd -P -- " + top + "; } 2>/dev/null || " + refuse(wordGone) + "\n")
	b.WriteString("top=$PWD\n")
	if l.command.At != "" {
		b.WriteString("cd -- " + quote(l.command.At) + " 2>/dev/null || " + refuse(wordNoDir) + "\n")
	} else {
		b.WriteString("cd -P -- " + quote("./"+dir) + " 2>/dev/null || " + refuse(wordNoDir) + "\n")
		b.WriteString(`case $PWD/ in "$top"/*) ;; *) ` + refuse(wordOutside) + ";; esac\n")
	}
	b.WriteString("found=" + wordAbsent + "\nfor p in")
	for _, candidate := range candidates(l.command.Argv[0], l.env) {
		b.WriteString(" " + quote(candidate))
	}
	b.WriteString("; do\n[ -f \"$p\" ] || continue\n[ -x \"$p\" ] && found= && break\nfound=" + wordRefused + "\ndone\n")
	b.WriteString(`[ -z "$found" ] || { echo "` + wordPrefix + `$found"` + refusal + "\n")
	if !l.attached {
		b.WriteString(say(wordReady) + "\n")
	}
	b.WriteString("set -- env -i --")
	for _, variable := range l.env {
		if !strings.Contains(variable, "=") || strings.HasPrefix(variable, "=") {
			return "", errors.New("a variable of the environment has no name: " + variable)
		}
		b.WriteString(" " + quote(variable))
	}
	if strings.Contains(l.command.Argv[0], "=") { // env would take it for a variable
		b.WriteString(` /bin/sh -c 'exec "$0" "$@"'`)
	}
	b.WriteString(` "$p"`)
	for _, argument := range l.command.Argv[1:] {
		b.WriteString(" " + quote(argument))
	}
	b.WriteString("\n")
	if l.token != "" {
		b.WriteString(counted(l.token, streams))
	}
	b.WriteString(`exec "$@"` + streams + "\n")
	return b.String(), nil
}

// counted runs the command under an init of its own, which says how it ended, and
// then reads the kernel's counter of processes of this container that were killed
// for want of memory. The daemon has a flag for that, which it sets by an event:
// when the container ends soon after, the event comes late or never. Without the
// daemon's init or a counter, of cgroups v2 or v1, nothing is said.
//
// The shell outlives signals that are sent to end the program, and needs no other
// process, for which there may be no room, once the program has ended.
func counted(token, streams string) string {
	return `init=
for i in /sbin/docker-init /usr/sbin/docker-init /usr/bin/docker-init; do [ -x "$i" ] && init=$i && break; done
events=
for i in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do [ -r "$i" ] && events=$i && break; done
if [ -n "$init" ] && [ -n "$events" ]; then
trap : TERM INT HUP QUIT
"$init" -s -- /bin/sh -c 'exec "$@"` + streams + `' sh "$@"
code=$?
kills=
while read -r name value rest; do [ "$name" != oom_kill ] || kills=$value; done <"$events"
echo "` + wordPrefix + token + ` $kills"
exit $code
fi
`
}

// offlineGuard refuses where there is a route, or an address of an interface
// other than the loopback's. Only builtins: nothing of it can be missing.
func offlineGuard(refuse string) string {
	return `{ read -r x; if read -r x; then ` + refuse + `; fi; } 2>/dev/null </proc/net/route
[ ! -r /proc/net/if_inet6 ] || while read -r a b c d e x; do [ "$x" = lo ] || ` + refuse + `; done </proc/net/if_inet6
`
}

// refusal is the error of a script that did not run the program.
func refusal(word string, c backend.Command) error {
	switch word {
	case wordReady:
		return nil
	case wordAbsent:
		hint := "use an image that has it, or add its directory to PATH"
		if strings.Contains(c.Argv[0], "/") {
			hint = ""
		}
		return &backend.ToolError{Tool: c.Argv[0], Err: errors.New("program not found in the container"), Hint: hint}
	case wordRefused:
		return &backend.ToolError{Tool: c.Argv[0], Err: errors.New("not executable in the container")}
	case wordNoEnv:
		return &backend.ToolError{Tool: "env", Err: errors.New("the image has no such program"), Hint: "use an image with a shell and env, such as busybox"}
	case wordGone:
		return errors.New("the workspace is gone or locked")
	case wordNoDir:
		return fmt.Errorf("in %q: there is no such directory", cmp.Or(c.At, c.Dir))
	case wordOutside:
		return fmt.Errorf("in %q: the directory is outside of the workspace", c.Dir)
	case wordNetwork:
		return errors.New("the container has a network although it was to have none")
	}
	return fmt.Errorf("the container said %q", word)
}

// candidates are the places where a program may be: in the absolute
// directories of PATH, so that a workspace cannot slip one in, or the one that
// its name gives.
func candidates(name string, env []string) []string {
	if path.IsAbs(name) {
		return []string{name}
	}
	if strings.Contains(name, "/") {
		return []string{"./" + name}
	}
	search, _ := getenv(env, "PATH")
	var places []string
	for dir := range strings.SplitSeq(search, ":") {
		if path.IsAbs(dir) {
			places = append(places, path.Join(dir, name))
		}
	}
	return places
}

// quote makes one word of the shell's out of any text.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// getenv returns the last value of name in env, which is the one that counts.
func getenv(env []string, name string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if value, found := strings.CutPrefix(env[i], name+"="); found {
			return value, true
		}
	}
	return "", false
}
