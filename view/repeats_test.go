package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/event"
)

// A cause that stops many nodes is shown once, and at the end how many more had it.
func TestOneCauseIsShownOnce(t *testing.T) {
	for name, open := range map[string]func(Options) View{
		"plain": func(o Options) View { return newPlainView(o) },
		"live":  func(o Options) View { return newLiveView(o) },
	} {
		t.Run(name, func(t *testing.T) {
			show := func(verbose bool) string {
				clock, out := newClock(), &page{}
				v := open(Options{Err: out, Now: clock.now, Width: 100, Verbose: verbose})
				v.Emit(event.RunStart{Type: "run.start", Nodes: 50})
				for i := range 42 {
					addr := fmt.Sprintf("pytest:p/%d", i)
					v.Emit(event.NodeRetry{Addr: addr, Attempt: 1, Reason: "uv is missing"})
					v.Emit(ended(addr, event.Broken, 1, "", "uv is missing\nhint: install it"))
				}
				v.Emit(ended("pytest:other", event.Broken, 1, "", "the disk is full"))
				v.Emit(ended("pytest:slow", event.Timeout, 1, "", "uv is missing"))
				if err := v.Close(); err != nil {
					t.Fatal(err)
				}
				return out.String()
			}
			got := show(false)
			for want, n := range map[string]int{
				"BROKEN      pytest:p/": 1, "retry       pytest:p/": 1, "hint: install it": 1, "the disk is full": 1,
				"TIMEOUT     pytest:slow":                        1,
				"BROKEN      and 41 more nodes: uv is missing\n": 1,
				"retry       and 41 more nodes: uv is missing\n": 1,
				"more node: ": 0,
			} {
				if strings.Count(got, want) != n {
					t.Errorf("%q is there %d times, want %d:\n%s", want, strings.Count(got, want), n, got)
				}
			}
			if all := show(true); strings.Count(all, "BROKEN      pytest:p/") != 42 {
				t.Errorf("-v does not show all:\n%s", all)
			}
		})
	}
}
