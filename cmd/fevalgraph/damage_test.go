//go:build unix

package main

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// flipsVariable sets the number of offsets in each file at which TestBitFlips flips a separate bit; small files get a
// flip in every byte. Without it, all blobs, and all records, are damaged at once.
const flipsVariable = "FEVALGRAPH_TEST_FLIPS"

// TestBitFlips: after any bit flip in any file of the store or of the project's state, the next run has the results of
// an undamaged one, as has a run that must read outputs of nodes.
func TestBitFlips(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	c := newCheckout(t, t.TempDir())
	c.run("run")
	want := c.results()
	check := func(what string) {
		t.Helper()
		for _, args := range [][]string{{"run"}, {"run", "--force", "kind=parse"}} {
			cmd := c.command(args...)
			if err := cmd.Run(); err != nil {
				t.Fatalf("%s: %s: %v\n%s", what, strings.Join(args, " "), err, output(cmd))
			}
			if got := c.results(); got != want {
				t.Fatalf("%s: results are\n%s\nwant\n%s", what, got, want)
			}
		}
	}
	check("nothing")
	rng := rand.New(rand.NewPCG(1, 1))
	places, err := strconv.Atoi(os.Getenv(flipsVariable))
	if err != nil {
		places = 0
	}
	store, state := filepath.Join(c.place, "store"), filepath.Join(c.dir, ".fevalgraph")
	if places == 0 {
		for _, dir := range []string{"cas", "ac"} {
			for _, path := range regularFiles(t, filepath.Join(store, dir)) {
				flip(t, path, rng.Int64N(1<<40))
			}
			check("all of " + dir)
		}
		for _, path := range stateFiles(t, state) {
			flip(t, path, rng.Int64N(1<<40))
			check(path)
		}
		return
	}
	var files []string
	for _, dir := range []string{"cas", "ac"} {
		files = append(files, regularFiles(t, filepath.Join(store, dir))...)
	}
	for _, path := range files {
		for i := range places {
			fi, err := os.Lstat(path)
			if errors.Is(err, fs.ErrNotExist) || err == nil && int64(i) >= fi.Size() {
				break // unused data was dropped
			}
			at := int64(i)
			if err == nil && fi.Size() > int64(places) {
				at = rng.Int64N(fi.Size())
			}
			flip(t, path, at)
			check(path + " at " + strconv.FormatInt(at, 10))
		}
	}
	for i := range places { // the last record is another one each time
		for _, path := range stateFiles(t, state) {
			at := int64(i)
			if fi, err := os.Lstat(path); err == nil && fi.Size() > int64(places) {
				at = rng.Int64N(fi.Size())
			}
			flip(t, path, at)
			check(path + " at " + strconv.FormatInt(at, 10))
		}
	}
}

// A directory that is marked as another store is left alone.
func TestFlippedVersion(t *testing.T) {
	t.Parallel()
	c := newCheckout(t, t.TempDir())
	c.run("run")
	flip(t, filepath.Join(c.place, "store", "VERSION"), 3)
	cmd := c.command("run")
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(output(cmd), "this build reads \"fevalgraph-store 1\"") {
		t.Errorf("%v\n%s", err, output(cmd))
	}
}

// stateFiles returns the files of the state that a run can read: all but those of runs before the last.
func stateFiles(t *testing.T, state string) []string {
	t.Helper()
	last, err := os.ReadFile(filepath.Join(state, "latest"))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, path := range regularFiles(t, state) {
		rel, err := filepath.Rel(filepath.Join(state, "runs"), path)
		if err == nil && !strings.HasPrefix(rel, "..") && !strings.HasPrefix(rel, strings.TrimSpace(string(last))) {
			continue
		}
		files = append(files, path)
	}
	return files
}

// regularFiles lists the files below dir that are not empty, in order of name.
func regularFiles(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if fi, err := d.Info(); err == nil && fi.Size() > 0 {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// flip makes one bit of the file wrong and leaves its times and mode as they are.
func flip(t *testing.T, path string, at int64) {
	t.Helper()
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return // such as the record of unchanged nodes, in a run that verified it
	}
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[at%int64(len(content))] ^= 1 << (at % 8)
	err = errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, content, 0o600), os.Chmod(path, fi.Mode()), os.Chtimes(path, fi.ModTime(), fi.ModTime()))
	if err != nil {
		t.Fatal(err)
	}
}
