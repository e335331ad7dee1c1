package user

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/eval/exit"
)

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

func write(t *testing.T, path string, content []byte, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, content, 0o600), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

func TestStateDir(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"XDG_STATE_HOME": dir, "HOME": "/home"}, filepath.Join(dir, "fevalgraph")},
		{map[string]string{"XDG_STATE_HOME": "relative", "HOME": dir}, filepath.Join(dir, ".local", "state", "fevalgraph")},
		{map[string]string{"HOME": dir}, filepath.Join(dir, ".local", "state", "fevalgraph")},
	} {
		if got, err := StateDir(lookup(c.env)); err != nil || got != c.want {
			t.Errorf("%v: %q, %v, want %q", c.env, got, err, c.want)
		}
	}
}

func TestKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if _, err := Key(dir, false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a key that must not be made: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a call that only reads makes the directory")
	}
	made, err := Key(dir, true)
	if err != nil || len(made) != KeySize {
		t.Fatalf("%d bytes, %v", len(made), err)
	}
	for _, create := range []bool{false, true} {
		if again, err := Key(dir, create); err != nil || !bytes.Equal(again, made) {
			t.Errorf("create %v: another key, %v", create, err)
		}
	}
	path := filepath.Join(dir, "key")
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v: others can read it", info.Mode(), err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v are left, %v", entries, err)
	}
	write(t, path, made[1:], 0o600)
	if _, err := Key(dir, true); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a damaged key: %v", err)
	}
	if content, err := os.ReadFile(path); err != nil || len(content) != KeySize-1 {
		t.Errorf("a damaged key is replaced: %d bytes, %v", len(content), err)
	}
}

func TestReadGroupKey(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		size int
		mode os.FileMode
		want string // part of the error
	}{
		{"smallest", KeySize, 0o640, ""},
		{"largest", largestKey, 0o600, ""},
		{"short", KeySize - 1, 0o600, "32 to 4096 bytes"},
		{"long", largestKey + 1, 0o600, "32 to 4096 bytes"},
		{"readable", KeySize, 0o644, "chmod 640"},
		{"writable", KeySize, 0o602, "chmod 640"},
	} {
		if c.mode&0o007 != 0 && runtime.GOOS == "windows" {
			continue
		}
		path := filepath.Join(dir, c.name)
		write(t, path, make([]byte, c.size), c.mode)
		key, err := ReadGroupKey(path)
		if c.want == "" && (err != nil || len(key) != c.size) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path)) {
			t.Errorf("%s: %d bytes, %v", c.name, len(key), err)
		}
	}
	if _, err := ReadGroupKey(dir); err == nil {
		t.Error("a directory is a key")
	}
	if _, err := ReadGroupKey(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("a missing key: %v", err)
	}
}

func TestSigningKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	public, err := GenerateSigningKey(path, "team")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := GenerateSigningKey(path, "other"); err == nil {
		t.Error("a key is overwritten")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{path, string(text)} {
		key, err := SigningKey(lookup(map[string]string{SigningKeyVariable: value}))
		if err != nil || key == nil || key.PublicKey.String() != public {
			t.Errorf("%.10q: %v, %v, want %s", value, key, err, public)
		}
	}
	for _, env := range []map[string]string{nil, {SigningKeyVariable: ""}} {
		if key, err := SigningKey(lookup(env)); key != nil || err != nil {
			t.Errorf("without a key: %v, %v", key, err)
		}
	}
	for _, value := range []string{path + ".missing", "-----BEGIN nothing"} {
		_, err := SigningKey(lookup(map[string]string{SigningKeyVariable: value}))
		if coded := (*exit.Error)(nil); !errors.As(err, &coded) || coded.Class != exit.Usage || !strings.Contains(err.Error(), SigningKeyVariable) {
			t.Errorf("%.10q: %v", value, err)
		}
	}
}

func TestTrust(t *testing.T) {
	state, project, other := t.TempDir(), t.TempDir(), t.TempDir()
	trust := OpenTrust(state, project, false)
	if trust.Allows([]string{"run uname"}) {
		t.Error("a new project is trusted")
	}
	if !trust.Allows(nil) {
		t.Error("asking for nothing needs trust")
	}
	trust.Add("backend.local.a", []string{"run uname", "run python"})
	trust.Add("backend.local.a", []string{"run uname", "run python"}) // listed once
	if got := trust.Asked(); len(got) != 1 || !slices.Equal(got[0].Asks, []string{"run uname", "run python"}) {
		t.Errorf("Asked: %v", got)
	}
	if err := trust.Save(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		project string
		all     bool
		asks    []string
		want    bool
	}{
		{"part", project, false, []string{"run python"}, true},
		{"all", project, false, []string{"run python", "run uname"}, true},
		{"one more", project, false, []string{"run python", "run curl"}, false},
		{"another text", project, false, []string{"run python "}, false},
		{"another project", other, false, []string{"run python"}, false},
		{"the caller's trust", other, true, []string{"run curl"}, true},
	} {
		if got := OpenTrust(state, c.project, c.all).Allows(c.asks); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if roots, err := TrustedProjects(state); err != nil || !slices.Equal(roots, []string{trust.Root}) {
		t.Errorf("TrustedProjects: %q, %v", roots, err)
	}
	for _, want := range []bool{true, false} {
		if any, err := OpenTrust(state, project, false).Revoke(); err != nil || any != want {
			t.Errorf("Revoke: %v, %v, want %v", any, err, want)
		}
	}
	if OpenTrust(state, project, false).Allows([]string{"run uname"}) {
		t.Error("trust is still there after Revoke")
	}
	if roots, err := TrustedProjects(filepath.Join(state, "missing")); err != nil || len(roots) != 0 {
		t.Errorf("of a state that does not exist: %q, %v", roots, err)
	}
}

// TestTrustOfPrograms ends trust in a program of the project when its content changes.
func TestTrustOfPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no executable bits")
	}
	state, project := t.TempDir(), t.TempDir()
	trust := OpenTrust(state, project, false)
	program := filepath.Join(trust.Root, "version.sh")
	write(t, program, []byte("echo 1"), 0o755)
	asks := []string{"run sh -c '" + program + "'"}
	trust.Add("backend.local.a", asks)
	if err := trust.Save(); err != nil {
		t.Fatal(err)
	}
	if !OpenTrust(state, project, false).Allows(asks) {
		t.Error("the program is not trusted")
	}
	write(t, program, []byte("echo 2"), 0o755)
	if OpenTrust(state, project, false).Allows(asks) {
		t.Error("the program is trusted with other content")
	}
}

func TestTrustDamaged(t *testing.T) {
	state, project := t.TempDir(), t.TempDir()
	trust := OpenTrust(state, project, false)
	trust.Add("a", []string{"run uname"})
	if err := trust.Save(); err != nil {
		t.Fatal(err)
	}
	write(t, trust.path, []byte(`{"root": "`), 0o600)
	if OpenTrust(state, project, false).Allows([]string{"run uname"}) {
		t.Error("a damaged file gives trust")
	}
	nowhere := OpenTrust("", project, false)
	nowhere.Add("a", []string{"run uname"})
	if err := nowhere.Save(); err == nil || !strings.Contains(err.Error(), "XDG_STATE_HOME") {
		t.Errorf("without a state directory: %v", err)
	}
}
