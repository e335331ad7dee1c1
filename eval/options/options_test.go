package options

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/lang"
)

// environment is a LookupEnv.
type environment map[string]string

func (e environment) lookup(name string) (string, bool) {
	value, ok := e[name]
	return value, ok
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestDirectories(t *testing.T) {
	elsewhere := t.TempDir()
	join := filepath.Join
	for _, c := range []struct {
		name       string
		o          Options
		dir, state string
	}{
		{"none", Options{}, "", StateName},
		{"a directory", Options{Inputs: lang.Inputs{Dir: "a"}}, "a", join("a", StateName)},
		{"a file in another directory", Options{Inputs: lang.Inputs{Dir: "a", File: join("b", "x.hcl")}}, join("a", "b"), join("a", "b", StateName)},
		{"FEVALGRAPH_DIR is empty", Options{Inputs: lang.Inputs{Dir: "a"}, LookupEnv: environment{"FEVALGRAPH_DIR": ""}.lookup}, "a", join("a", StateName)},
		{"FEVALGRAPH_DIR is relative", Options{Inputs: lang.Inputs{Dir: "a"}, LookupEnv: environment{"FEVALGRAPH_DIR": "s"}.lookup}, "a", join("a", "s")},
		{"FEVALGRAPH_DIR is absolute", Options{Inputs: lang.Inputs{Dir: "a"}, LookupEnv: environment{"FEVALGRAPH_DIR": elsewhere}.lookup}, "a", elsewhere},
	} {
		if got := c.o.ProjectDir(); got != c.dir {
			t.Errorf("%s: project %q, want %q", c.name, got, c.dir)
		}
		if got := c.o.StateDir(); got != c.state {
			t.Errorf("%s: state %q, want %q", c.name, got, c.state)
		}
	}
}

func TestCacheDir(t *testing.T) {
	dir := t.TempDir()
	configured := &lang.Config{}
	configured.Settings.CacheDir = filepath.Join(dir, "configured")
	env := environment{"FEVALGRAPH_CACHE_DIR": filepath.Join(dir, "env")}
	for _, c := range []struct {
		name string
		env  environment
		cfg  *lang.Config
		want string
	}{
		{"the environment is first", env, configured, filepath.Join(dir, "env")},
		{"the configuration", nil, configured, filepath.Join(dir, "configured")},
		{"an empty variable", environment{"FEVALGRAPH_CACHE_DIR": ""}, configured, filepath.Join(dir, "configured")},
	} {
		got, err := (&Options{LookupEnv: c.env.lookup}).CacheDir(c.cfg)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	relative := &Options{LookupEnv: environment{"FEVALGRAPH_CACHE_DIR": "store"}.lookup}
	if got, err := relative.CacheDir(nil); err != nil || !filepath.IsAbs(got) {
		t.Errorf("a relative directory: %q, %v", got, err)
	}
}

func TestFindProject(t *testing.T) {
	root := t.TempDir()
	inner := filepath.Join(root, "a", "b")
	write(t, filepath.Join(root, lang.MainFile), "")
	if err := os.MkdirAll(filepath.Join(inner, lang.MainFile), 0o755); err != nil { // a directory is not a configuration
		t.Fatal(err)
	}
	for _, start := range []string{root, filepath.Join(root, "a"), inner} {
		if dir, found := FindProject(start); !found || dir != root {
			t.Errorf("from %s: %q, %v", start, dir, found)
		}
	}
	write(t, filepath.Join(root, "a", lang.MainFile), "")
	if dir, _ := FindProject(inner); dir != filepath.Join(root, "a") {
		t.Errorf("the nearest project is not found, but %q", dir)
	}
}

func TestMakeState(t *testing.T) {
	ignores := func(dir string) string {
		text, err := os.ReadFile(filepath.Join(dir, ".gitignore"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return string(text)
	}
	dir := t.TempDir()
	fresh := filepath.Join(dir, "a", StateName)
	for range 2 {
		if err := MakeState(fresh); err != nil || ignores(fresh) != "*\n" {
			t.Errorf("%v, .gitignore %q", err, ignores(fresh))
		}
	}
	write(t, filepath.Join(fresh, ".gitignore"), "mine\n")
	if err := MakeState(fresh); err != nil || ignores(fresh) != "mine\n" {
		t.Errorf("%v, the user's .gitignore is %q", err, ignores(fresh))
	}
	other := filepath.Join(dir, "results") // holds the user's files
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := MakeState(other); err != nil || ignores(other) != "" {
		t.Errorf("%v, another directory gets .gitignore %q", err, ignores(other))
	}
	file := filepath.Join(dir, "file")
	write(t, file, "")
	if err := MakeState(filepath.Join(file, StateName)); err == nil {
		t.Error("a state directory below a file")
	}
}

func TestHintStateDir(t *testing.T) {
	for _, c := range []struct {
		err    error
		hinted bool
	}{
		{&fs.PathError{Op: "mkdir", Path: "x", Err: syscall.EACCES}, true},
		{fmt.Errorf("making: %w", syscall.EROFS), true},
		{syscall.ENOSPC, false},
	} {
		got := HintStateDir(c.err)
		if strings.Contains(got.Error(), "FEVALGRAPH_DIR") != c.hinted || !errors.Is(got, c.err) {
			t.Errorf("%v becomes %v", c.err, got)
		}
	}
}

func TestJobs(t *testing.T) {
	for _, wanted := range []int{0, 1, math.MaxInt} {
		o := &Options{Jobs: wanted}
		if got := o.RunJobs(); got < 1 || got > o.WantedJobs() || wanted == 1 && got != 1 {
			t.Errorf("%d wanted: %d run", wanted, got)
		}
	}
}

func TestSumReaped(t *testing.T) {
	ended, left := SumReaped([]backend.Reaped{
		{}, {Entry: backend.Entry{Network: true}}, {},
		{Err: errors.New("refused")}, {Err: errors.New("refused")}, {Err: errors.New("gone")},
	})
	if ended != 2 || len(left) != 2 || left[0].Error() != "refused" || left[1].Error() != "gone" {
		t.Errorf("%d ended, %v left", ended, left)
	}
}

func TestRecordSecret(t *testing.T) {
	dir := t.TempDir()
	group, short := filepath.Join(dir, "group"), filepath.Join(dir, "short")
	write(t, group, strings.Repeat("g", user.KeySize))
	write(t, short, "g")
	with := func(file string) *Options {
		return &Options{LookupEnv: environment{"XDG_STATE_HOME": filepath.Join(dir, "state"), StoreKeyVariable: file}.lookup}
	}
	own, err := with("").RecordSecret(true)
	if err != nil || len(own) != user.KeySize {
		t.Fatalf("%d bytes, %v", len(own), err)
	}
	if got, err := with(group).RecordSecret(false); err != nil || string(got) != strings.Repeat("g", user.KeySize) {
		t.Errorf("%q, %v", got, err)
	}
	// A group's key that cannot be used is an error, and not a reason to sign with another key.
	for _, file := range []string{short, filepath.Join(dir, "missing")} {
		_, err := with(file).RecordKey(true)
		if coded := (*exit.Error)(nil); !errors.As(err, &coded) || coded.Class != exit.Usage || !strings.Contains(err.Error(), StoreKeyVariable) {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
}

// TestRecordKeyMissing lets a run go on without a key, with a warning if it stores results.
func TestRecordKeyMissing(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "fevalgraph"), "") // a file, so that no key can be made below it
	for _, create := range []bool{false, true} {
		noted := 0
		o := &Options{LookupEnv: environment{"XDG_STATE_HOME": dir}.lookup, Notify: func(n Notice) {
			if _, ok := n.(KeyMissing); ok {
				noted++
			}
		}}
		if _, err := o.RecordKey(create); err != nil || (noted == 1) != create {
			t.Errorf("create %v: %d warnings, %v", create, noted, err)
		}
	}
}
