package eval

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

func someChanges() *changes {
	c := &changes{top: "/r", all: newPathSet(nil), layout: newPathSet(nil)}
	c.add("/r/tests/test_a.py", "100644", "100644")
	c.add("/r/data/new/b.txt", "000000", "100644")
	c.add("/r/run.sh", "100644", "100755")
	return c
}

func TestChangesAffect(t *testing.T) {
	c := someChanges()
	for _, o := range []struct {
		kind, name string
		want       bool
	}{
		{"file", "/r/tests/test_a.py", true},
		{"file", "/r/tests/test_b.py", false},
		{"exists", "/r/tests/test_a.py", false}, // it has other content
		{"dir", "/r/tests", false},
		{"tree", "/r/tests", true},
		{"state", "/r/tests", true},
		{"dir", "/r/data", true}, // data/new can be new
		{"dir", "/r/data/old", false},
		{"exists", "/r/data/new", true},
		{"fileset", "/r/data\x00**", true},
		{"fileset", "/r/tests\x00test_*.py", false},
		{"fileset", "/r\x00*", true},
		{"link", "/r/run.sh", true}, // its mode differs
		{"file", "/r/run.sh/x", true},
		{"exists", "/other", false},
		{"env", "/r/run.sh", false},
	} {
		if got := c.affect(o.kind, o.name); got != o.want {
			t.Errorf("%s %q: %v", o.kind, o.name, got)
		}
	}
	if c.whole {
		t.Error("no link changed")
	}
	for _, special := range []struct{ path, was, is string }{{"/r/l", "120000", "120000"}, {"/r/l", "100644", "120000"}, {"/r/a/.gitattributes", "100644", "100644"}} {
		if c := someChanges(); c.whole {
			t.Error("already whole")
		} else if c.add(special.path, special.was, special.is); !c.whole {
			t.Errorf("%s: other paths can have other content", special.path)
		}
	}
}

func TestChangesAffectBackend(t *testing.T) {
	c := someChanges()
	for name, o := range map[string]struct {
		block    lang.Backend
		programs string
		want     bool
	}{
		"no path":          {lang.Backend{Python: "3.12"}, "sh python", false},
		"a file":           {lang.Backend{Python: "/r/run.sh"}, "", true},
		"a list of paths":  {lang.Backend{Env: []lang.EnvVar{{Name: "PATH", Value: "/bin:/r/data/new"}}}, "", true},
		"a directory":      {lang.Backend{Setup: []string{"ls /r/data/"}}, "", true},
		"another file":     {lang.Backend{Python: "/r/.venv/bin/python"}, "", false},
		"the work tree":    {lang.Backend{Env: []lang.EnvVar{{Name: "ROOT", Value: "/r"}}}, "", true},
		"a program":        {lang.Backend{}, "sh /r/run.sh", true},
		"another program":  {lang.Backend{}, "sh /r/walk.sh", false},
		"a built image":    {lang.Backend{Container: &lang.Container{Build: &lang.ImageBuild{Context: "/r/data", Dockerfile: "/r/data/new/b.txt"}}}, "", false},
		"a hashed mount":   {lang.Backend{Container: &lang.Container{Mounts: []lang.Mount{{Source: "/r/data"}}}}, "", false},
		"a path elsewhere": {lang.Backend{Python: "/usr/r/run.sh"}, "", true}, // it only costs time
	} {
		if got := c.affectBackend(&plan.BackendHandle{Block: &o.block, Use: plan.Use{Programs: o.programs}}); got != o.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
