package lang

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestResourcesBlock(t *testing.T) {
	load := func(attributes string) (Resources, string) {
		dir := t.TempDir()
		write(t, dir+"/tests/test_a.py", nil)
		write(t, dir+"/fevalgraph.hcl", fmt.Appendf(nil, "problem \"p\" {\n  pytest { root = \"tests\" }\n  checkpoint \"a\" {}\n  resources {\n%s\n  }\n}\n", attributes))
		c, list := Load(Options{Inputs: Inputs{Dir: dir}})
		if list.HasErrors() {
			return Resources{}, diagText(list, dir)
		}
		return c.Problems[0].Resources, ""
	}
	got, wrong := load("nodes = 2\nmemory = \" 16+ \"\ncpus = null")
	if want := (Resources{Memory: "16+", Nodes: "2"}); got != want || wrong != "" {
		t.Errorf("got %+v, want %+v; %s", got, want, wrong)
	}
	if got, wrong = load("nodes = null"); got != (Resources{}) || wrong != "" {
		t.Errorf("nodes that are null are %+v; %s", got, wrong)
	}
	for _, nodes := range []string{"0", "1.5", "\"many\""} {
		if _, wrong := load("nodes = " + nodes); !strings.Contains(wrong, "nodes") {
			t.Errorf("nodes = %s: %q", nodes, wrong)
		}
	}
}

func TestResourcesOver(t *testing.T) {
	base := Resources{Cloud: "gcp", CPUs: "2", Nodes: "1"}
	own := Resources{CPUs: "8+", Accelerators: "L4:1"}
	if got, want := own.Over(base), (Resources{Accelerators: "L4:1", Cloud: "gcp", CPUs: "8+", Nodes: "1"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if own != (Resources{CPUs: "8+", Accelerators: "L4:1"}) || base != (Resources{Cloud: "gcp", CPUs: "2", Nodes: "1"}) {
		t.Errorf("Over has changed %+v or %+v", own, base)
	}
	if got := base.Over(Resources{}); got != base {
		t.Errorf("over nothing: %+v", got)
	}
}

// Every field is in the text, and texts of different resources differ.
func TestResourcesString(t *testing.T) {
	known := map[string]Resources{}
	try := func(r Resources, want string) {
		t.Helper()
		got := r.String()
		if want != "" && got != want {
			t.Errorf("%+v: got %q, want %q", r, got, want)
		}
		if other, taken := known[got]; taken {
			t.Errorf("%+v and %+v are both %q", r, other, got)
		}
		known[got] = r
	}
	try(Resources{}, "")
	try(Resources{CPUs: "2", Memory: "4"}, "cpus=2,memory=4")
	try(Resources{CPUs: "2,memory=4"}, `cpus="2,memory=4"`)
	try(Resources{CPUs: `"2,memory=4"`}, `cpus="\"2,memory=4\""`)
	for i := range reflect.TypeFor[Resources]().NumField() {
		var r Resources
		reflect.ValueOf(&r).Elem().Field(i).SetString("1")
		try(r, strings.ToLower(reflect.TypeFor[Resources]().Field(i).Name)+"=1")
	}
}
