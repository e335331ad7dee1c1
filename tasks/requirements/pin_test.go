package requirements

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	hashA = "sha256:2d91e135bf72d31a410b17c16da610a82cb55f6b0477d1a902134b24a455b8b3"
	hashB = "sha256:b6a85871a79d2e3b22d2d1b94ac2824226a63c6b741c88f7ae975f18b6778374"
)

// uv's output becomes a line for each package, which the lock file stores in two fields.
func TestHashes(t *testing.T) {
	written := "pytest==9.2.0 \\\n    --hash=" + hashB + " \\\n    --hash=" + hashA + "\n    # via -r in.txt\n" +
		"mine @ file:///pkg#egg=mine\niniconfig==2.0.0 \\\n    --hash=" + hashA + "\n"
	lines, err := ReadPins(written)
	want := []string{
		"iniconfig==2.0.0 --hash=" + hashA, "mine @ file:///pkg#egg=mine", "pytest==9.2.0 --hash=" + hashB + " --hash=" + hashA,
	}
	if err != nil || !slices.Equal(lines, want) {
		t.Fatalf("read %q, %v", lines, err)
	}
	if Hashed(lines) || !Hashed(lines[2:]) {
		t.Error("which lines have hashes")
	}
	if pin, hashes := Cut(lines[2]); pin != "pytest==9.2.0" || !slices.Equal(hashes, []string{hashB, hashA}) {
		t.Errorf("cut into %q and %q", pin, hashes)
	}

	path := filepath.Join(t.TempDir(), FileName)
	l := &Lock{}
	l.Put(Set{Python: "3.11", Platform: "p", Requires: []string{"pytest"}, Pins: lines})
	if err = l.Save(path); err != nil {
		t.Fatal(err)
	}
	want[2] = "pytest==9.2.0 --hash=" + hashA + " --hash=" + hashB // sorted
	l, err = Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := l.Pins("3.11", "p", []string{"pytest"}); !ok || !slices.Equal(got, want) {
		t.Errorf("kept %q", got)
	}
	if got := l.Preferences("3.11", "p"); !slices.Equal(got, []string{"iniconfig==2.0.0", "mine @ file:///pkg#egg=mine", "pytest==9.2.0"}) {
		t.Errorf("preferences are %q", got)
	}
}

// The lines of a lock file become lines of a requirements file, where options are significant.
func TestPinsAreNoOptions(t *testing.T) {
	for pin, want := range map[string]string{
		"a==1\n--index-url=http://evil":     "more than a pin",
		"a==1 --index-url=http://evil":      "more than a pin",
		"--index-url=http://evil/?a==1":     "more than a pin",
		"-r /etc/passwd @ a==1":             "more than a pin",
		"a==1\u0000":                        "more than a pin",
		"a>=1":                              "pins no version",
		"a==1 --hash=md5:1":                 "more than a pin",
		"a @ git+https://host/a@0123456789": "",
		"a==1 ; sys_platform == 'linux'":    "",
	} {
		err := checkPin(pin, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", pin, err)
		}
	}
	if err := checkPin("a==1", []string{hashA, "sha256:1 --index-url=http://evil"}); err == nil || !strings.Contains(err.Error(), "is not a hash") {
		t.Errorf("an invalid hash: %v", err)
	}
}
