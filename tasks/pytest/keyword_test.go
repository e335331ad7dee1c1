package pytest

import (
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// Keywords as pytest has them: the name first, then marks from the nearest to
// the farthest, function attributes, parameters' ids, classes, files and
// directories. All of them count, marks or not.
func TestKeywordsAreNotOnlyMarks(t *testing.T) {
	for _, try := range []struct {
		what, id, keywords string
		want               verdict.Group
	}{
		{"a parameter called error", "test_p[error]", "test_p[error] parametrize pytestmark error test_checkpoint_2.py tests w", verdict.ErrorGroup},
		{"another parameter", "test_p[ok]", "test_p[ok] parametrize pytestmark ok test_checkpoint_2.py tests w", verdict.Core},
		{"a part of a parameter", "test_p[an error]", "test_p[an-error] parametrize pytestmark an-error test_checkpoint_2.py tests w", verdict.Core},
		{"an attribute of the function", "test_a", "test_a regression test_checkpoint_2.py tests w", verdict.Regression},
		{"a class", "slow::test_m", "test_m slow test_checkpoint_2.py tests w", verdict.Functionality},
		{"a part of a class's name", "TestError::test_m", "test_m TestError test_checkpoint_2.py tests w", verdict.Core},
		{"a directory", "test_d", "test_d test_checkpoint_2.py functionality tests w", verdict.Functionality},
		{"a mark of a parameter after a mark of the function", "test_q[1]", "test_q[1] slow parametrize error pytestmark 1 test_checkpoint_2.py tests w", verdict.ErrorGroup},
		{"the nearer of two decorators", "test_two", "test_two slow crit pytestmark test_checkpoint_2.py tests w", verdict.Functionality},
		{"the function's before the class's", "TestC::test_m", "test_m crit pytestmark TestC slow test_checkpoint_2.py tests w", verdict.Core},
	} {
		v, _ := parse.judge(runOutput{stages: encode(0, one{id: current + "::" + try.id, keywords: strings.Fields(try.keywords)})})
		if got := v.Tests[0].Group; got != try.want {
			t.Errorf("%s: %s, want %s", try.what, got, try.want)
		}
	}
}

// The built-in keywords error and regression keep their meaning next to markers of that name; only functionality can be
// replaced.
func TestBuiltInMarkersInGroups(t *testing.T) {
	p := Parse{Grouping: Grouping{Checkpoint: "c", Custom: map[string]verdict.Group{"error": verdict.Core, "regression": verdict.Core, "functionality": verdict.ErrorGroup}}}
	for keyword, want := range map[string]verdict.Group{"error": verdict.ErrorGroup, "regression": verdict.Regression, "functionality": verdict.ErrorGroup} {
		v, _ := p.judge(runOutput{stages: encode(0, one{id: "tests/test_c.py::t", keywords: []string{"t", keyword}})})
		if got := v.Tests[0].Group; got != want {
			t.Errorf("%s: %s, want %s", keyword, got, want)
		}
	}
}

// Any name in a file name except the current checkpoint's makes a regression test, even that of no checkpoint.
func TestEveryOtherCheckpointIsRegression(t *testing.T) {
	for file, checkpoint := range map[string]string{
		"tests/test_checkpoint_1.py": "checkpoint_1", "tests/test_checkpoint_3.py": "checkpoint_3",
		"tests/test_checkpoint_20.py": "checkpoint_20", "tests/sub/test_helpers.py": "helpers",
	} {
		v, _ := parse.judge(runOutput{stages: encode(0, one{id: file + "::t", keywords: []string{"error"}})})
		if got := v.Tests[0]; got.Checkpoint != checkpoint || got.Group != verdict.Regression {
			t.Errorf("%s: %+v", file, got)
		}
	}
	v, _ := parse.judge(runOutput{stages: encode(0, one{id: "tests/extra_test.py::t"})})
	if got := v.Tests[0]; got.Checkpoint != "checkpoint_2" || got.Group != verdict.Core {
		t.Errorf("a file that names no checkpoint: %+v", got)
	}
}
