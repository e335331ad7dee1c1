package verdict

import "testing"

// A checkpoint is shown as timed out if a limit ended each test that failed, and if it failed; its verdict stays the same.
func TestShownClass(t *testing.T) {
	limit, wrong, good := Test{Group: Core, Status: TestFailed, Verdict: TestTimeout}, Test{Group: Core, Status: TestFailed}, Test{Group: Core, Status: TestPassed}
	unneeded := Test{Group: "functionality", Status: TestError, Verdict: TestTimeout}
	for _, c := range []struct {
		tests    []Test
		class    Class
		timedOut bool
	}{
		{[]Test{good, limit}, Judged, true},
		{[]Test{limit, unneeded}, Judged, true},
		{[]Test{limit, wrong}, Judged, false},
		{[]Test{wrong}, Judged, false},
		{[]Test{good}, Judged, false},
		{[]Test{good, unneeded}, Judged, false}, // passes
		{[]Test{limit}, Killed, false},
	} {
		one := Checkpoint{Class: c.class, Tests: c.tests}
		if err := Grade(&one, CoreCases); err != nil {
			t.Fatal(err)
		}
		shown := one.ShownClass()
		if (shown == SessionTimeout) != c.timedOut || !c.timedOut && shown != c.class || one.Passed && c.timedOut {
			t.Errorf("%v %v: shown as %v, passed %v", c.class, c.tests, shown, one.Passed)
		}
	}
}
