//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// editProject changes something in a project, and returns a description of the change. It leaves a project that
// loads, mostly.
func editProject(rng *rand.Rand, d diffTree) string {
	for {
		if what := diffEdits[rng.IntN(len(diffEdits))](rng, d); what != "" {
			return what
		}
	}
}

// source picks a source file that no other is found by.
func (d diffTree) source(rng *rand.Rand) string {
	names := slices.DeleteFunc(d.files(), func(name string) bool {
		return strings.HasSuffix(name, ".hcl") || strings.HasSuffix(name, ".lock") || filepath.Base(name) == "check.sh"
	})
	return names[rng.IntN(len(names))]
}

// needed reports whether the configuration fails, or has other cells, without a file.
func needed(name string) bool {
	base := filepath.Base(name)
	return base == "main.txt" || base == "kv.py" || strings.HasPrefix(name, "tests/") || strings.HasSuffix(name, ".hcl") || base == "check.sh" || name == "behind/one.txt" || name == "shared/words.txt"
}

// diffEdits return a description of their edit; "" means that there was nothing to edit.
var diffEdits = []func(rng *rand.Rand, d diffTree) string{
	func(rng *rand.Rand, d diffTree) string { // content
		name := d.source(rng)
		content, err := os.ReadFile(d.path(name))
		must(err)
		must(os.WriteFile(d.path(name), fmt.Appendf(content, "# %d\n", rng.IntN(3)), 0o644))
		return "append to " + name
	},
	func(rng *rand.Rand, d diffTree) string { // other verdicts
		name := d.source(rng)
		content, err := os.ReadFile(d.path(name))
		must(err)
		changed := bytes.ReplaceAll(content, []byte("def put"), []byte("def pat"))
		if bytes.Equal(content, changed) {
			changed = bytes.ReplaceAll(content, []byte("def pat"), []byte("def put"))
		}
		if bytes.Equal(content, changed) {
			return ""
		}
		must(os.WriteFile(d.path(name), changed, 0o644))
		return "other functions in " + name
	},
	func(rng *rand.Rand, d diffTree) string { // size and time stay, or the time is a whole second
		name := d.source(rng)
		content, err := os.ReadFile(d.path(name))
		must(err)
		info, err := os.Stat(d.path(name))
		must(err)
		at := bytes.LastIndexByte(content, '\n') - 1
		if at < 0 {
			return ""
		}
		content[at] = 'a' + byte(rng.IntN(26))
		mtime := info.ModTime()
		if rng.IntN(2) == 0 {
			mtime = time.Now().Truncate(time.Second).Add(time.Duration(rng.IntN(5)-3) * time.Second)
		}
		if rng.IntN(2) == 0 {
			must(os.WriteFile(d.path(name), content, 0o644))
		} else {
			must(os.WriteFile(d.path(name+"~"), content, info.Mode()))
			must(os.Rename(d.path(name+"~"), d.path(name)))
		}
		must(os.Chtimes(d.path(name), mtime, mtime))
		return fmt.Sprintf("a byte of %s, with the time %v; it had %v", name, mtime.UnixNano(), info.ModTime().UnixNano())
	},
	func(rng *rand.Rand, d diffTree) string {
		name := d.source(rng)
		info, err := os.Stat(d.path(name))
		must(err)
		must(os.Chmod(d.path(name), info.Mode()^0o111))
		return "mode of " + name
	},
	func(rng *rand.Rand, d diffTree) string {
		name := d.source(rng)
		if needed(name) {
			return ""
		}
		to := filepath.Join(filepath.Dir(name), fmt.Sprintf("renamed%d.txt", rng.IntN(3)))
		must(os.Rename(d.path(name), d.path(to)))
		return "rename " + name + " to " + to
	},
	func(rng *rand.Rand, d diffTree) string {
		name := d.source(rng)
		link := filepath.Join(filepath.Dir(name), fmt.Sprintf("link%d.txt", rng.IntN(2)))
		if strings.HasPrefix(name, "tests/") {
			return ""
		}
		if old, err := os.Readlink(d.path(link)); err == nil {
			must(os.Remove(d.path(link)))
			if old == filepath.Base(name) {
				return "remove the link " + link
			}
		} else if _, err := os.Lstat(d.path(link)); err == nil {
			return ""
		}
		must(os.Symlink(filepath.Base(name), d.path(link)))
		return "link " + link + " to " + filepath.Base(name)
	},
	func(rng *rand.Rand, d diffTree) string {
		name := filepath.Join(filepath.Dir(d.source(rng)), fmt.Sprintf("new%d.txt", rng.IntN(3)))
		if info, err := os.Lstat(d.path(name)); err == nil && !info.Mode().IsRegular() {
			return ""
		}
		d.write(name, "new\n", 0o644)
		return "write " + name
	},
	func(rng *rand.Rand, d diffTree) string {
		name := d.source(rng)
		if needed(name) {
			return ""
		}
		must(os.Remove(d.path(name)))
		return "remove " + name
	},
	func(rng *rand.Rand, d diffTree) string {
		name := d.source(rng)
		dir := filepath.Join(filepath.Dir(name), "empty")
		if os.Remove(d.path(dir)) == nil {
			return "remove the directory " + dir
		}
		must(os.MkdirAll(d.path(dir), 0o755))
		return "make the directory " + dir
	},
	func(rng *rand.Rand, d diffTree) string {
		name := d.source(rng)
		at := time.Now().Add(time.Duration(rng.IntN(100)-90) * time.Minute)
		must(os.Chtimes(d.path(name), at, at))
		return "touch " + name
	},
	func(rng *rand.Rand, d diffTree) string { // a solution more, or one less
		problem := fmt.Sprintf("solutions/p%d", rng.IntN(2))
		if _, err := os.Stat(d.path(problem + "/s0")); err != nil {
			return ""
		}
		name := problem + fmt.Sprintf("/s%d", 1+rng.IntN(3))
		if _, err := os.Stat(d.path(name)); err == nil {
			must(os.RemoveAll(d.path(name)))
			return "remove " + name
		}
		d.write(name+"/main.txt", "solution\n", 0o644)
		return "add " + name
	},
	func(rng *rand.Rand, d diffTree) string { // a problem more, or one less
		if _, err := os.Stat(d.path("bench/p2")); err == nil {
			must(os.RemoveAll(d.path("bench/p2")))
			must(os.RemoveAll(d.path("solutions/p2")))
			return "remove bench/p2"
		}
		d.write("bench/p2/check.sh", diffCheck, 0o644)
		d.write("solutions/p2/s0/main.txt", "solution\n", 0o644)
		return "add bench/p2"
	},
	func(rng *rand.Rand, d diffTree) string { // checkpoints reached
		if _, err := os.Stat(d.path("kv/good")); err != nil {
			return ""
		}
		name := []string{"kv/good/two", "kv/late/one", "kv/late/two"}[rng.IntN(3)]
		if _, err := os.Stat(d.path(name)); err == nil {
			must(os.RemoveAll(d.path(name)))
			return "remove " + name
		}
		d.write(name+"/kv.py", "def put\n", 0o644)
		return "add " + name
	},
	func(rng *rand.Rand, d diffTree) string {
		text := []string{"", "flavor = \"b\"\n", "least = 20\n", "repeat = 2\n", "least = 90\nrepeat = 1\n", "repeat = 3\nflavor = \"c\"\n"}[rng.IntN(6)]
		d.write("x.auto.vars.hcl", text, 0o644)
		return fmt.Sprintf("set the variables to %q", text)
	},
	func(rng *rand.Rand, d diffTree) string {
		content, err := os.ReadFile(d.path("fevalgraph.hcl"))
		must(err)
		changes := [][2]string{
			{"asset \"shared\" { source = \"shared\" }", "asset \"shared\" { source = \"behind\" }"},
			{"endswith(cell.solution.name, \"1\")", "endswith(cell.solution.name, \"0\")"},
			{"policy = \"core-cases\"", "policy = \"all-cases\""},
			{"# nothing\n", ""},
			{"command {\n", "command {\n    timeout = \"20s\"\n"},
			{"self.score >= var.least", "self.score < var.least"},
			{"\"frontier\" \"some\"", "\"frontier\" \"same\""},
		}
		change := changes[rng.IntN(len(changes))]
		switch {
		case change[1] != "" && bytes.Contains(content, []byte(change[1])):
			content = bytes.ReplaceAll(content, []byte(change[1]), []byte(change[0]))
		case bytes.Contains(content, []byte(change[0])):
			content = bytes.ReplaceAll(content, []byte(change[0]), []byte(change[1]))
		default:
			content = append(content, "# nothing\n"...)
		}
		must(os.WriteFile(d.path("fevalgraph.hcl"), content, 0o644))
		return fmt.Sprintf("edit the configuration: %q", change)
	},
	func(rng *rand.Rand, d diffTree) string { // a directory moves to make room for a copy of it, changed
		name := filepath.Dir(d.source(rng))
		if name == "." || filepath.Base(name) == "empty" {
			return ""
		}
		if info, err := os.Lstat(d.path(name)); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return ""
		}
		aside := d.path(".aside")
		must(os.Rename(d.path(name), aside))
		must(os.CopyFS(d.path(name), os.DirFS(aside)))
		must(os.RemoveAll(aside))
		d.write(filepath.Join(name, "replaced.txt"), fmt.Sprintln(rng.IntN(3)), 0o644)
		return "replace the directory " + name
	},
	func(rng *rand.Rand, d diffTree) string { // the target of a link that filesets follow
		target, err := os.Readlink(d.path("linked"))
		must(err)
		if other := "shared"; target != other && rng.IntN(2) == 0 {
			target = other
		} else {
			target = "behind"
		}
		must(os.Symlink(target, d.path("linked~")))
		must(os.Rename(d.path("linked~"), d.path("linked")))
		return "link linked to " + target
	},
}

// diffDisturbances change the store, the state or runs, not the project, and return a description.
var diffDisturbances = []func(w *diffWorld) string{
	diffGC, diffDamage, diffSwitch, diffSwitch, diffBreak, diffPack,
	func(w *diffWorld) string {
		paths := listStateFiles(w.c)
		if len(paths) == 0 {
			return "no state to damage"
		}
		path := paths[w.rng.IntN(len(paths))]
		if w.rng.IntN(2) == 0 {
			must(os.Remove(path))
		} else if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			flip(w.t, path, w.rng.Int64N(1<<40))
		}
		return "damage " + filepath.Base(path)
	},
	func(w *diffWorld) string {
		must(os.RemoveAll(filepath.Join(w.c.dir, ".fevalgraph")))
		return "remove the state"
	},
	func(w *diffWorld) string { // another checkout on the same store, ahead by an edit
		name := fmt.Sprintf("other-%d", w.step)
		other := w.checkoutAt(name, "place")
		diffTree(w.c.dir).copyTo(w.t, other.dir)
		what := editProject(w.rng, diffTree(other.dir))
		cmd := other.command("run")
		w.finished(cmd, cmd.Run())
		must(os.RemoveAll(other.dir))
		return "another checkout runs, after: " + what
	},
	func(w *diffWorld) string { // other ways to request results
		all := [][]string{
			{"run", "problem=p0"}, {"run", "--only", "kind=materialize"}, {"run", "--not", "problem=p0"}, {"run", "--var", "flavor=z"},
			{"run", "--force", "kind=score"}, {"run", "--force", "kind=command"}, {"run", "suite=some"}, {"run", "--var", "repeat=2", "problem=p0"},
			{"run", "--var", "least=55"}, {"run", "--json"}, {"run", "-v"}, {"run", "--policy", "any-case"}, {"run", "--fail-fast"},
			{"run", "--retry", "error"}, {"run", "verdict=failed"}, {"run", "--shard", "1/2"}, {"plan", "problem=p0"}, {"plan", "--var", "flavor=z"},
			{"status", "problem=p0"}, {"explain", "command:p0/s0@local.host"}, {"clean"}, {"cache", "verify", "--repair"}, {"validate"}, {"list", "nodes"}, {"graph"},
		}
		args := all[w.rng.IntN(len(all))]
		w.command(args...)
		return strings.Join(args, " ")
	},
	func(w *diffWorld) string { // stopped in the middle of something new
		what := editProject(w.rng, diffTree(w.c.dir))
		signal := []syscall.Signal{syscall.SIGINT, syscall.SIGKILL, syscall.SIGTERM}[w.rng.IntN(3)]
		after := time.Duration(w.rng.IntN(100)) * time.Millisecond
		cmd := w.c.command("run")
		must(cmd.Start())
		time.Sleep(after)
		_ = cmd.Process.Signal(signal) // it can have ended
		_ = cmd.Wait()
		if signal == syscall.SIGKILL {
			w.c.awaitForked()
		}
		return fmt.Sprintf("%s; run, and %s after %v", what, signal, after)
	},
	func(w *diffWorld) string { // edited while something runs
		what := editProject(w.rng, diffTree(w.c.dir))
		after := time.Duration(w.rng.IntN(80)) * time.Millisecond
		cmd := w.c.command("run")
		must(cmd.Start())
		time.Sleep(after)
		during := editProject(w.rng, diffTree(w.c.dir))
		w.finished(cmd, cmd.Wait())
		return fmt.Sprintf("%s; run, and after %v of it: %s", what, after, during)
	},
}

// diffGC collects garbage, with limits that hurt.
func diffGC(w *diffWorld) string {
	if !w.lossy {
		return "no gc here"
	}
	w.lost = true
	w.command("cache", "gc", "--max-age", "30d") // migrates data of an earlier version
	then := time.Now().Add(-3 * time.Hour)
	for _, path := range w.stored() {
		if w.rng.IntN(2) == 0 {
			_ = os.Chtimes(path, then, then) // gc can have removed it
		}
	}
	w.command("cache", "gc", "--max-size", "4KiB")
	return "gc"
}

// diffDamage removes some files of the store and flips bits in others.
func diffDamage(w *diffWorld) string {
	if !w.lossy {
		return "no damage here"
	}
	w.lost, w.damaged = true, true
	paths := w.stored()
	for range min(len(paths), 4) {
		path := paths[w.rng.IntN(len(paths))]
		if w.rng.IntN(3) == 0 {
			_ = os.Remove(path)
		} else if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			_ = os.Chmod(path, 0o644)
			flip(w.t, path, w.rng.Int64N(1<<40))
		}
	}
	return "damage the store"
}

// stored returns the files of the store.
func (w *diffWorld) stored() []string {
	var paths []string
	for _, dir := range []string{"cas", "ac"} {
		root := filepath.Join(w.c.place, "store", dir)
		for _, name := range diffTree(root).files() {
			paths = append(paths, filepath.Join(root, name))
		}
	}
	return paths
}

// listStateFiles returns the files of a project's state that runs rely on.
func listStateFiles(c *checkout) []string {
	var paths []string
	entries, _ := os.ReadDir(filepath.Join(c.dir, ".fevalgraph")) // it does not exist at first
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name() != "latest" {
			paths = append(paths, filepath.Join(c.dir, ".fevalgraph", e.Name()))
		}
	}
	return paths
}
