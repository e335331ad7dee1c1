package pytest

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// The flag is that of SlopCodeBench: exit codes 2 to 5, or no collected test. No other exit code sets it, a missing
// report does not, and it discards no recorded test. Unlike there, the report determines the number of tests.
func TestInfrastructureFlag(t *testing.T) {
	for code := -1; code <= 260; code++ {
		ran := one{id: current + "::test_a"}
		if code == exitTestsFailed {
			ran.stages = fails
		}
		for _, try := range []struct {
			name   string
			stages []byte
			log    []byte
			infra  bool // with any exit code
		}{
			{"reported", encode(code, ran), nil, !readable(code)},
			{"reported, and collected according to the output", encode(code, ran), collected(3), false},
			{"collected", nil, collected(3), false},
			{"one item", nil, []byte("collected 1 item / 1 deselected\n"), false},
			{"no collected test", nil, []byte("collected 0 items / 1 error\n"), true},
			{"no line about it", nil, []byte("3 workers [3 items]\n"), true},
			{"no output", nil, nil, true},
		} {
			exit := exitFacts{Exit: session.Exit{Code: code}}
			if code < 0 {
				exit.Signal = "killed"
			}
			v, _ := parse.judge(runOutput{exit: exit, stages: try.stages, log: try.log})
			if want := try.infra || code >= 2 && code <= 5; v.InfrastructureFailure != want {
				t.Errorf("exit code %d, %s: %t", code, try.name, v.InfrastructureFailure)
			}
			if want := try.stages != nil && readable(code); (len(v.Tests) == 1) != want {
				t.Errorf("exit code %d, %s: %d tests", code, try.name, len(v.Tests))
			}
			if v.Class == verdict.Judged && (code != 0 && code != 1 || len(v.Tests) == 0) {
				t.Errorf("exit code %d, %s: judged", code, try.name)
			}
		}
	}
}

// readable reports whether pytest ended by itself, so that its reports count.
func readable(code int) bool { return code >= 0 && code < signalBase }
