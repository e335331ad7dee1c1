//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// batchVariable is the number of pairs of the batches below; make soak has
// 5,000. Without it they are small.
const batchVariable = "FEVALGRAPH_TEST_BATCH"

// batch is a checkout of testdata/batch with its pairs.
type batch struct {
	*checkout
	pairs int
	log   string // lines of graders, one for each that ran
}

// newBatch writes a number of solutions, of at most a hundred models.
func newBatch(t *testing.T, pairs int) *batch {
	t.Helper()
	const models = 100
	place := t.TempDir()
	b := &batch{copyCheckout(t, filepath.Join("testdata", "batch"), place), pairs, filepath.Join(place, "graded")}
	b.env = append(b.env, "FEVALGRAPH_VAR_log="+b.log)
	var list strings.Builder
	list.WriteString("# everything\n")
	for i := range pairs {
		pair := fmt.Sprintf("p%d/m%d", i/models, i%models)
		file := filepath.Join(b.dir, "solutions", pair+".txt")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(pair+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&list, "%s.txt:p%d\n", pair, i/models)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "pairs.txt"), []byte(list.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return b
}

// graded counts how often each pair was graded.
func (b *batch) graded() map[string]int {
	b.t.Helper()
	content, err := os.ReadFile(b.log)
	if err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
	times := map[string]int{}
	for line := range bytes.Lines(content) {
		times[strings.TrimSpace(string(line))]++
	}
	return times
}

// killAfter starts the batch and kills it after a number of pairs were graded. It reports whether the batch was still
// running.
func (b *batch) killAfter(pairs int) bool {
	b.t.Helper()
	cmd := b.command("run", "--quiet", "--pairs", "pairs.txt")
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for len(b.graded()) < pairs {
		select {
		case err := <-ended:
			if err != nil {
				b.t.Fatalf("%v\n%s", err, output(cmd))
			}
			return false
		case <-time.After(5 * time.Millisecond): // until it can have got there
		}
	}
	cmd.Process.Kill()
	return <-ended != nil
}

// The same command finishes a batch that is killed repeatedly, and repeats no recorded work.
func TestBatchKilled(t *testing.T) {
	if os.Getenv(batchVariable) == "" {
		longtest.Skip(t)
	}
	t.Parallel()
	pairs, kills := 60, 3
	if asked := os.Getenv(batchVariable); asked != "" {
		var err error
		if pairs, err = strconv.Atoi(asked); err != nil || pairs < 100 {
			t.Fatalf("%s=%s: want a number of pairs", batchVariable, asked)
		}
		kills = 10
	}
	b := newBatch(t, pairs)
	killed := 0
	done := map[string]bool{}
	again := func() {
		for addr, times := range b.executed() {
			if done[addr] && times > 1 {
				t.Errorf("%s was done and ran again", addr)
			}
		}
	}
	for i := range kills {
		if b.killAfter((i + 1) * pairs / (kills + 1)) {
			killed++
		}
		again()
		for addr, state := range b.states() {
			done[addr] = done[addr] || state == event.Done
		}
	}
	b.run("run", "--quiet", "--pairs", "pairs.txt")
	again()
	if killed < kills/2 {
		t.Errorf("only %d of %d kills came before the end", killed, kills)
	}
	graded, twice := b.graded(), 0
	for _, times := range graded {
		twice += times - 1
	}
	t.Logf("%d pairs, %d kills, %d nodes were recorded before the last one; %d graders ran once more", pairs, killed, len(done), twice)
	if len(graded) != pairs {
		t.Errorf("%d pairs were graded, want %d", len(graded), pairs)
	}
	if got := strings.Count(b.results(), `"status": "success"`); got != pairs {
		t.Errorf("%d pairs have a verdict, want %d", got, pairs)
	}
	b.noLeftovers()
	b.run("run", "--quiet", "--pairs", "pairs.txt")
	if r := b.lastRun(); r.end.Executed > 0 {
		t.Errorf("another run executed %v", r.executed)
	}
}

// executed counts by the records of all runs how often nodes ended.
func (b *batch) executed() map[string]int {
	b.t.Helper()
	times := map[string]int{}
	ids, err := event.Runs(b.records())
	if err != nil {
		b.t.Fatal(err)
	}
	for _, id := range ids {
		run, err := event.FindRun(b.records(), id)
		if err != nil {
			b.t.Fatal(err)
		}
		err = run.Each(func(e event.Event) bool {
			if done, ok := e.(event.NodeDone); ok && done.State == event.Done {
				times[done.Addr]++
			}
			return true
		})
		if err != nil && !os.IsNotExist(err) {
			b.t.Fatal(err)
		}
	}
	return times
}

// A run writes as much for each pair, for any number of pairs.
func TestBatchWrites(t *testing.T) {
	longtest.Skip(t)
	if _, err := os.Stat("/proc/self/io"); err != nil {
		t.Skip("the kernel does not count what processes write")
	}
	t.Parallel()
	sizes := []int{10, 30, 90}
	if os.Getenv(batchVariable) != "" {
		sizes = []int{50, 500, 5000}
	}
	var written []int
	for _, pairs := range sizes {
		written = append(written, newBatch(t, pairs).bytesWritten())
	}
	perPair := func(i int) float64 { return float64(written[i]-written[i-1]) / float64(sizes[i]-sizes[i-1]) }
	few, many := perPair(1), perPair(2)
	t.Logf("bytes written: %v for %v pairs; %.0f for each of the first, %.0f for each of the last", written, sizes, few, many)
	if many > 1.5*few {
		t.Errorf("each further pair costs %.0f bytes where there are %d, and %.0f where there are %d", many, sizes[2], few, sizes[1])
	}
}

var writtenBytes = regexp.MustCompile(`(?m)^wchar: ([0-9]+)$`)

// bytesWritten runs the batch and returns what it and its graders wrote: the
// kernel adds a process's count to its parent's, here a shell's.
func (b *batch) bytesWritten() int {
	b.t.Helper()
	ran := b.command()
	cmd := exec.Command("sh", "-c", `fevalgraph run --quiet --pairs pairs.txt >/dev/null && cat "/proc/$$/io"`)
	cmd.Dir, cmd.Env = ran.Dir, ran.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("%v\n%s", err, out)
	}
	m := writtenBytes.FindSubmatch(out)
	if m == nil {
		b.t.Fatalf("no count of written bytes in %s", out)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil || n == 0 {
		b.t.Fatalf("%d bytes were written: %v", n, err)
	}
	return n
}
