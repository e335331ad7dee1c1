package cli

import (
	"bytes"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/fevalgraph/fevalgraph/eval/exit"
)

// full is a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// broken is a file that cannot be written for a reason without a hint.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestLostOutput: a command whose output is lost does not succeed, and does not blame the request.
func TestLostOutput(t *testing.T) {
	for name, out := range map[string]io.Writer{"full": full{}, "broken": broken{}} {
		for _, args := range []string{"version", "--help", "completion bash"} {
			for _, actions := range []string{"", "true"} {
				var stderr bytes.Buffer
				code := Main(strings.Fields(args), IO{In: strings.NewReader(""), Out: out, Err: &stderr, LookupEnv: func(name string) (string, bool) {
					if name != "GITHUB_ACTIONS" {
						return "", false
					}
					return actions, true
				}})
				if code != int(exit.NotJudged) || !strings.Contains(stderr.String(), "fevalgraph: ") || strings.Contains(stderr.String(), "--help") {
					t.Errorf("%s on a %s output: exit code %d, %s", args, name, code, stderr.String())
				}
			}
		}
	}
}
