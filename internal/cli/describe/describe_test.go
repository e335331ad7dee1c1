package describe

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/provenance"
	"github.com/fevalgraph/fevalgraph/eval/shards"
	"github.com/fevalgraph/fevalgraph/eval/upkeep"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/eval/validate"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/gen"
	"github.com/fevalgraph/fevalgraph/gen/model"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

func TestCoverage(t *testing.T) {
	rows := Coverage([]*validate.Coverage{
		{Problem: "a", Expected: 3, Present: 1, Missing: []string{"x"}, Empty: []string{"y"}},
		{Problem: "b", Expected: 2, Present: 1, Failed: []string{"z"}},
	})
	cells := rows.Cells()
	if want := []string{"all", "5", "2", "1", "1", "1"}; !slices.Equal(cells[2], want) {
		t.Errorf("the last row is %q, want %q", cells[2], want)
	}
	if object := rows.Objects()[0]; object["problem"] != "a" || object["missing"] != 1 {
		t.Errorf("the first object is %v", object)
	}
}

func TestDivision(t *testing.T) {
	same(t, "nothing is stale", Division(&shards.Division{Fresh: 1}), "nothing is stale, so no shards are needed; 1 fresh cell\n")
	same(t, "two shards", Division(&shards.Division{
		Jobs: 2, Fresh: 4, Guessed: 1,
		Shards: []shards.Shard{{Shard: 1, Of: 2, Seconds: 240, Cells: []string{"a", "b"}}, {Shard: 2, Of: 2, Seconds: 8, Cells: []string{"c"}}},
	}), "shard 1/2  2 cells  about 2m00s\nshard 2/2  1 cell  about 4.0s\n3 stale cells, 4 fresh; how long 1 of them take is a guess\n")
}

func TestNotice(t *testing.T) {
	failed := errors.New("no route")
	for _, try := range []struct {
		notice options.Notice
		want   string // a part
		always bool
	}{
		{options.SessionsEnded{Count: 2}, "ended 2 sessions", false},
		{options.ClusterLeft{Err: failed}, "warning: no route", true},
		{options.RemoteTrouble{Name: "farm", Err: failed}, "remote cache farm: no route", true},
		{options.JobsReduced{Wanted: 64, Jobs: 8, Limit: 256}, "-j reduced from 64 to 8", true},
		{options.ForeignRecords{Count: 1}, "1 record was not signed by you", true},
		{options.ForeignRecords{}, "", true},
		{options.Untrusted{Asks: []string{"local.a: run x", "2", "3", "4", "5", "6", "7"}}, "local.a: run x\n  2\n  3\n  4\n  5\n  and 2 more\n", true},
		{options.Untrusted{Cache: "farm"}, "its remote cache farm was not queried", true},
		{options.Warnings{}, "", false}, // shown with its source
	} {
		said, always := Notice(try.notice)
		if !strings.Contains(said, try.want) || try.want == "" && said != "" || always != try.always {
			t.Errorf("%#v: %q, %v", try.notice, said, always)
		}
		if said != "" && !strings.HasSuffix(said, "\n") {
			t.Errorf("%#v: %q is not a whole line", try.notice, said)
		}
	}
}

func TestReferences(t *testing.T) {
	one, two := 1.0, 2.0
	same(t, "references", References([]report.Reference{
		{Problem: "good", Name: "reference", Judged: 1, Reached: true},
		{Problem: "tests", Name: "reference", Expect: "pass", Judged: 1, Missed: 1},
		{Problem: "low", Name: "reference", Wanted: &two, Score: &one, Judged: 1, Missed: 1},
		{Problem: "none", Name: "reference", Wanted: &two, Judged: 1, Missed: 1},
		{Problem: "flaky", Name: "reference", Judged: 2, Reached: true, Flaky: []string{"test_a"}},
		{Problem: "broken", Name: "oracle", Judged: 1, Unjudged: 2},
		{Problem: "cheated", Name: "cheat", Expect: "fail", Got: "passed", Judged: 1, Missed: 1},
	}), "tests: its reference must pass every checkpoint, but does not\nlow: its reference has the score 1, but must reach 2\n"+
		"none: its reference has no score, but must reach 2\nflaky: its reference is flaky: test_a\n"+
		"broken: its reference oracle could not be judged in 2 repeats\ncheated: its reference cheat must fail, but got: passed\n")
}

func TestTrusted(t *testing.T) {
	same(t, "nothing", Trusted("/p", nil), "/p contains nothing that needs trust\n")
	backend := user.Trusted{Addr: "local.host", Asks: []string{"gcc --version", "gcc --version"}}
	generator := user.Trusted{Addr: "generator.gpt", Asks: []string{"ask a model"}}
	same(t, "both", Trusted("/p", []user.Trusted{backend, generator}),
		"trusted /p; to identify its backends, read-only commands can\n  local.host: gcc --version\ngen can\n  generator.gpt: ask a model\n")
	same(t, "a generator", Trusted("/p", []user.Trusted{generator}), "trusted /p; gen can\n  generator.gpt: ask a model\n")
	same(t, "a name that would write to the terminal", Trusted("/p", []user.Trusted{{Addr: "local.host", Asks: []string{"a\x1b[2Jb"}}}),
		"trusted /p; to identify its backends, read-only commands can\n  local.host: a\\x1b[2Jb\n")
}

func TestCleaned(t *testing.T) {
	c := &upkeep.Cleaned{Sessions: 1, Removed: 2, Runs: 5, Clusters: []string{"c1"}, Containers: []kind.RemovedContainers{{Containers: 1, Images: 3, Built: 2, Networks: 1, Host: "here"}}}
	before := "removed 1 network from here\nremoved 1 container and 3 images, 2 of which built from a Dockerfile, from here\nended cluster c1\n"
	same(t, "whole", Cleaned(c, false, true), before+"ended 1 leftover sessions, removed 2 of 5 run records\n")
	same(t, "leftovers of an error", Cleaned(c, false, false), before)
	same(t, "the state", Cleaned(&upkeep.Cleaned{State: "/p/.fevalgraph"}, false, true), "removed /p/.fevalgraph\n")
}

func TestStore(t *testing.T) {
	s := &upkeep.StoreStats{Dir: "/store"}
	if got := Store(s); len(got) != 3 || got[0][1] != "/store" {
		t.Errorf("a store that served nothing has %q", got)
	}
	s.Oldest, s.Newest = time.Unix(0, 0), time.Unix(1, 0)
	s.Served = event.Served{Runs: 2, Hits: 7, Misses: 1}
	got := Store(s)
	if !slices.ContainsFunc(got, func(f []string) bool { return slices.Equal(f, []string{"hits", "7 in 2 runs of this project"}) }) || len(got) != 7 {
		t.Errorf("a store that served has %q", got)
	}
}

func TestVerified(t *testing.T) {
	entries := &provenance.Entries{Nodes: make([]provenance.Node, 3), Verdicts: make([]provenance.Verdict, 6)}
	checked := &provenance.Checked{Entries: entries, Digest: "aa", Proven: 2, Imported: 1, Unjudged: 1}
	checked.Run = "r"
	v := &eval.Verified{Checked: checked}
	const head = "run r, 6 verdicts on 3 nodes\nentries sha256:aa\n"
	signed := head + "signed, 2 proven by their results and manifests, 2 stated by the signer (tests are withheld), 1 judged by another tool, 1 not judged\n"
	same(t, "no finding", Verified(v), signed)
	v.Again = &eval.Audited{Stored: 9, Checked: 4, Different: []eval.AuditedResult{{Addr: "a"}, {Addr: "b", Causes: []string{"image", "tests"}}}, Unjudged: []eval.AuditedProblem{{Addr: "c", Message: "no uv"}}}
	same(t, "made again", Verified(v), signed+"different: a, no different inputs found\ndifferent: b, from other inputs: image, tests\n"+
		"could not be produced again: c: no uv\nproduced 4 again: 2 different\n")
	same(t, "an audit", Audited(v.Again), "different: a\ndifferent: b\ncould not be produced again: c: no uv\nchecked 4 of 9 stored results: 2 different\n")
	checked.Findings = []provenance.Finding{{What: "signature", Message: "of nobody"}, {What: "node", Name: "tests:p", Message: "two keys"}}
	v.Again = nil
	same(t, "findings", Verified(v), head+"WRONG signature: of nobody\nWRONG node of tests:p: two keys\n")
	if VerifiedJSON(v).Rerun != nil {
		t.Error("the object of a bundle without a rerun has one")
	}
}

func TestGenerated(t *testing.T) {
	priced, free := &gen.Generator{Generator: &lang.Generator{Name: "a", Price: &lang.Price{}}}, &gen.Generator{Generator: &lang.Generator{Name: "b"}}
	step := func(g *gen.Generator, attempt int) *gen.Step {
		return &gen.Step{Generator: g, Problem: &lang.Problem{Name: "p"}, Checkpoint: &lang.Checkpoint{Name: "c"}, Attempt: attempt}
	}
	usage := gen.Usage{Usage: model.Usage{InputTokens: 1200, OutputTokens: 34}, Cost: 0.05}
	placed := []gen.Placed{
		{Step: step(priced, 1), Outcome: gen.Written, Usage: usage},
		{Step: step(priced, 2), Outcome: gen.Unusable, Asked: true, Reason: "no code"},
		{Step: step(free, 1), Outcome: gen.Edited},
		{Step: step(free, 2), Outcome: gen.NoAnswer, Reason: "refused"},
	}
	header, rows := Generated(placed)
	same(t, "the header", strings.Join(header, "|"), "generator|"+strings.Join([]string{string(gen.Written), string(gen.Edited), string(gen.Unusable), string(gen.NoAnswer)}, "|")+"|tokens|cost")
	same(t, "a priced one", strings.Join(rows[0], "|"), "a|1|0|1|0|1,234|$0.0500")
	same(t, "a free one", strings.Join(rows[1], "|"), "b|0|1|0|1|0|")
	if got := Remarks(placed, true); strings.Contains(got, "no code") || !strings.Contains(got, "edited since and are kept") {
		t.Errorf("remarks next to progress:\n%s", got)
	}
	if got := Remarks(placed, false); !strings.Contains(got, "no code") {
		t.Errorf("remarks without progress:\n%s", got)
	}
	many := slices.Repeat([]gen.Placed{placed[2]}, shownReasons+2)
	if got := Remarks(many, false); strings.Count(got, "\n") != shownReasons+1 || !strings.HasSuffix(got, "and 2 more\n") {
		t.Errorf("many remarks:\n%s", got)
	}
	if got := Unanswered(placed); len(got) != 1 || got[0].Why != "refused" {
		t.Errorf("unanswered: %+v", got)
	}
	same(t, "what it took", Took(usage, true), ": 1,200 tokens in, 34 out, $0.0500")
	same(t, "what nothing took", Took(gen.Usage{}, true), "")
}

func TestList(t *testing.T) {
	p := &plan.Plan{Config: &lang.Config{Problems: []*lang.Problem{{Name: "a", Title: "A", Checkpoints: make([]*lang.Checkpoint, 2), Tags: []string{"x", "y"}}}}}
	rows := List(p, "problems")
	if last := rows.Header[len(rows.Header)-1]; last != "tags" {
		t.Errorf("without an invalid problem the last column is %s", last)
	}
	same(t, "a problem", strings.Join(rows.Cells()[0], "|"), "a|A|2|x, y")
	for kind := range listings {
		if !slices.Contains(Lists, kind) {
			t.Errorf("%s is not in Lists", kind)
		}
	}
}
