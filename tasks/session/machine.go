package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// Machine determines, after a failed set-up command, whether the machine lacks a program that the command
// names, or the package index. It does not rely on the command's output and exit, which a submission could
// fake, but probes in a separate session without a submission. The zero value is ready to use, and nil
// does not cache answers; it is safe for concurrent use.
type Machine struct {
	Offline bool // do not use the network

	mu      sync.Mutex
	answers map[question]*answer
}

// Setup is a failed set-up command.
type Setup struct {
	Backend backend.Backend
	Spec    backend.Spec // of a session like the command's, without inputs
	Env     []string
	Secrets []string
	Line    string // for the shell
	Exit    backend.Exit
	In      func(dir string, argv []string) []string // starts a program in an environment; nil means without one
}

// question contains everything that an answer depends on.
type question struct {
	backend                 backend.Backend
	snapshot, env, programs string // lists are NUL-separated
}

type answer struct {
	mu    sync.Mutex
	at    time.Time
	lacks string
}

// lasting is how long an answer is cached: an index can become unreachable at any time.
const lasting = 10 * time.Second

// asking is generous, since uv retries several times.
const asking = 2 * time.Minute

// probe exits with 3 if one of its arguments is not a program, and with 4 if uv cannot reach the index. If
// uv must not use an index, or is missing, the index is not probed.
const probe = `for program do command -v "$program" >/dev/null || { echo "$program"; exit 3; }; done
[ -z "${UV_OFFLINE:-}${UV_NO_INDEX:-}" ] && command -v uv >/dev/null || exit 0
echo pip | uv pip compile --quiet --no-config --no-cache --no-header - >/dev/null || exit 4`

// Lacks returns what the machine lacks, or "". An error means that the probe failed.
func (m *Machine) Lacks(ctx context.Context, s Setup) (string, error) {
	var programs []string
	if s.Exit.Code == ShellNotFound || s.Exit.Code == ShellNotExecutable {
		programs = programsIn(s.Line)
	}
	if m != nil && m.Offline {
		s.Env = append(slices.Clone(s.Env), "UV_OFFLINE=1")
	}
	a := m.answerOf(question{s.Backend, s.Spec.Snapshot, strings.Join(s.Env, "\x00"), strings.Join(programs, "\x00")})
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.at.IsZero() && time.Since(a.at) < lasting {
		return a.lacks, nil
	}
	lacks, err := s.ask(ctx, programs)
	if err != nil {
		return "", fmt.Errorf("checking the resources of the machine: %w", err)
	}
	a.at, a.lacks = time.Now(), lacks
	return lacks, nil
}

func (m *Machine) answerOf(q question) *answer {
	if m == nil {
		return &answer{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answers == nil {
		m.answers = map[question]*answer{}
	}
	if m.answers[q] == nil {
		m.answers[q] = &answer{}
	}
	return m.answers[q]
}

func (s *Setup) ask(ctx context.Context, programs []string) (string, error) {
	session, err := s.Backend.Open(ctx, s.Spec)
	if session != nil {
		defer session.Close(context.WithoutCancel(ctx))
	}
	if err != nil {
		return "", err
	}
	argv := append([]string{"/bin/sh", "-c", probe, "sh"}, programs...)
	if s.In != nil {
		argv = s.In(session.Dir(), argv)
	}
	var said capped.Buffer
	exit, err := session.Exec(ctx, backend.Command{Argv: argv, Env: s.Env, Timeout: asking, Online: true, Output: &said})
	output := backend.RedactBytes(said.Bytes(), s.Secrets)
	switch {
	case err != nil:
		return "", err
	case exit.TimedOut:
		return fmt.Sprintf("the package index does not answer within %v", asking), nil
	case exit.Signal != "":
		return "", fmt.Errorf("the check was ended by a signal: %s", exit.Signal)
	case exit.Code == 3:
		return "a program is missing: " + LastLine(output), nil
	case exit.Code == 4 && networkTrouble().Match(output):
		return "no network: " + string(bytes.TrimSpace(networkTrouble().Find(output))), nil
	}
	return "", nil
}

// networkTrouble are the lines in which uv and pip say that the index could not be
// reached, as opposed to a requirement that cannot be met.
var networkTrouble = lazyregexp.New(`(?i).*(?:error sending request|dns error|failed to lookup address|connection (?:refused|reset)|` +
	`tcp connect error|operation timed out|network (?:connectivity|unreachable|is unreachable)|temporary failure in name resolution|` +
	`tls handshake|invalid peer certificate|max retries exceeded|no space left on device).*`)

// ErrUnclear is returned by Blame if the network might have failed temporarily.
var ErrUnclear = errors.New("its output mentions the network, but the machine's network works; it runs once more")

// Blame returns an error if a failed set-up command does not allow a verdict, because the machine lacks
// something or could not be probed. If the command reports a network failure, but the probe finds nothing
// missing, it returns ErrUnclear.
func Blame(lacks string, err error, output []byte) error {
	const enough = 256 << 10 // the reason is at the end, and regular expressions are slow on megabytes
	switch {
	case err != nil:
		return err
	case lacks != "":
		return errors.New(lacks)
	case networkTrouble().Match(output[max(0, len(output)-enough):]):
		return ErrUnclear
	}
	return nil
}

// Messages of shells that could not start a program.
const ShellNotExecutable, ShellNotFound = 126, 127

var (
	separators = lazyregexp.New(`[;|&\n(){}]+`)
	quoted     = lazyregexp.New("'[^']*'|\"[^\"$`\\\\]*(?:[$][A-Za-z{][^\"$`\\\\]*)*\"")
	tooHard    = lazyregexp.New("[\"'`#\\\\]|[$][(]|<<")
	assignment = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)
	program    = lazyregexp.New(`^(?:/[A-Za-z0-9_./+@-]+|[A-Za-z0-9_][A-Za-z0-9_.+@-]*)$`)
	reserved   = []string{"if", "then", "else", "elif", "while", "until", "do", "!", "time", "exec", "command", "env"}
)

// programsIn returns the commands of a line that the machine must provide. Relative paths belong to
// the problem or the submission.
func programsIn(line string) []string {
	return slices.DeleteFunc(Commands(line), func(word string) bool { return !program().MatchString(word) })
}

// Commands returns the commands that a shell line starts, without duplicates, up to the first
// construct that only a shell can parse.
func Commands(line string) []string {
	line = quoted().ReplaceAllLiteralString(line, "$")
	if at := tooHard().FindStringIndex(line); at != nil {
		line = line[:at[0]]
	}
	var found []string
	for _, simple := range separators().Split(line, -1) {
		for _, word := range strings.Fields(simple) {
			if assignment().MatchString(word) || slices.Contains(reserved, word) {
				continue
			}
			if !slices.Contains(found, word) {
				found = append(found, word)
			}
			break
		}
	}
	return found
}
