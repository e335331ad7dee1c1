package harbor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// readerFiles returns the files of a configuration in dir.
func readerFiles(t *testing.T, dir string) *lang.ReaderFiles {
	t.Helper()
	lay(t, dir, map[string]string{"fevalgraph.hcl": `solution "s" { job = "." }`})
	var got *lang.ReaderFiles
	reader := lang.Reader{Owner: "solution", Attribute: lang.AttributeSchema{Name: "job", Type: lang.TypeText, Path: true},
		Collect: func(files *lang.ReaderFiles, _ string, _ []lang.Candidate) ([]lang.Collected, diag.List) {
			got = files
			return nil, nil
		}}
	if _, found := lang.Load(lang.Options{Inputs: lang.Inputs{Dir: dir}, Extensions: lang.Extensions{Readers: []lang.Reader{reader}}}); found.HasErrors() || got == nil {
		t.Fatal(found)
	}
	return got
}

// Declared artifacts are found by the rules of Harbor's regrading, and rejected where Harbor rejects them.
func TestArtifacts(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{
		"secret": "s", "t/agent/log": "l", "t/artifacts/logs/artifacts/": "", "t/artifacts/app/main.py": "m", "t/artifacts/kept/data/words": "w",
		"t/artifacts/app/was_file/x": "", "t/artifacts/app/was_dir": "",
	})
	for link, to := range map[string]string{"app/out": "/etc", "app/up": "../../../secret", "app/inside": "../kept/data", "app/loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, "t", "artifacts", link)); err != nil {
			t.Fatal(err)
		}
	}
	line := func(source, destination, kind, status, rest string) string {
		return fmt.Sprintf(`{"source":%q,"destination":%q,"type":%q,"status":%q%s}`, source, destination, kind, status, rest)
	}
	always := line("/logs/artifacts", "artifacts/logs/artifacts", "directory", "ok", `,"exclude":[]`)
	file := func(source, status string) string { return line(source, "artifacts"+source, "file", status, "") }
	directory := func(source, rest string) string { return line(source, "artifacts"+source, "directory", "ok", rest) }
	for _, try := range []struct {
		lines  string
		wanted taskArtifact
		want   string // of the parts or of the error
	}{
		{file("/app/main.py", "ok"), taskArtifact{Source: "/app/main.py"}, "app/main.py=t/artifacts/app/main.py"},
		{file("/app/main.py/", "ok"), taskArtifact{Source: "/app/main.py"}, "as artifacts/app/main.py/, but the task expects artifacts/app/main.py"},
		{line("/app/data", "artifacts/kept/data", "directory", "ok", `,"exclude":["b","a"]`), taskArtifact{Source: "/app/data/", Destination: "kept/data", Exclude: []string{"a", "b", "a"}}, "app/data=t/artifacts/kept/data"},
		{line("/app/data", "artifacts/kept/data", "directory", "ok", `,"exclude":null`), taskArtifact{Source: "/app/data", Destination: "kept/data", Exclude: []string{"a"}}, "app/data=t/artifacts/kept/data"},
		{line("/app/data", "artifacts/kept/data", "directory", "ok", `,"exclude":["a"]`), taskArtifact{Source: "/app/data", Destination: "kept/data"}, `without ["a"], but the task excludes []`},
		{line("/app/data", "artifacts/other", "directory", "ok", ""), taskArtifact{Source: "/app/data", Destination: "kept/data"}, "as artifacts/other, but the task expects artifacts/kept/data"},
		{line("/app/e", "artifacts/app/e", "directory", "empty", ""), taskArtifact{Source: "/app/e"}, "app/e="},
		{line("/app/e", "artifacts/app/e", "file", "empty", ""), taskArtifact{Source: "/app/e"}, "empty and not a directory"},
		{line("/db", "artifacts/app/main.py", "file", "ok", `,"service":"db"`), taskArtifact{Source: "/db", Destination: "app/main.py", Service: "db"}, "db=t/artifacts/app/main.py"},
		{line("/db", "artifacts/app/main.py", "file", "ok", `,"service":"db"`), taskArtifact{Source: "/db", Destination: "app/main.py"}, "/db: it was never collected"},
		{file("/app/main.py", "failed"), taskArtifact{Source: "/app/main.py"}, "collecting it failed"},
		{file("/app/main.py", "failed") + "," + file("/app/main.py", "ok"), taskArtifact{Source: "/app/main.py"}, "app/main.py=t/artifacts/app/main.py"},
		{file("/app/main.py", "ok") + "," + file("/app/main.py", "failed"), taskArtifact{Source: "/app/main.py"}, "collecting it failed"},
		{file("/app/main.py", "skipped"), taskArtifact{Source: "/app/main.py"}, "it was skipped"},
		{file("/app/main.py", "<b>"), taskArtifact{Source: "/app/main.py"}, `its status is "<b>"`},
		{"", taskArtifact{Source: "/app/main.py"}, "it was never collected"},
		{file("/app/gone", "ok"), taskArtifact{Source: "/app/gone"}, "artifacts/app/gone no longer exists"},
		{file("/app/was_file", "ok"), taskArtifact{Source: "/app/was_file"}, "it is no longer a file"},
		{directory("/app/was_dir", ""), taskArtifact{Source: "/app/was_dir"}, "it is no longer a directory"},
		{directory("/app/out", ""), taskArtifact{Source: "/app/out"}, "a link that points outside of the trial"},
		{file("/app/up", "ok"), taskArtifact{Source: "/app/up"}, "a link that points outside of the trial"},
		{file("/app/loop", "ok"), taskArtifact{Source: "/app/loop"}, "/app/loop: "},
		{directory("/app/inside", ""), taskArtifact{Source: "/app/inside"}, "app/inside=t/artifacts/kept/data"},
		{line("/x", "artifacts/../../secret", "file", "ok", ""), taskArtifact{Source: "/x"}, "as artifacts/../../secret, but the task expects artifacts/x"},
		{line("/x", "../secret", "file", "ok", ""), taskArtifact{Source: "/x", Destination: "../../secret"}, "outside of the trial"},
	} {
		text := "[" + always
		if try.lines != "" {
			text += "," + try.lines
		}
		lay(t, dir, map[string]string{"t/artifacts/manifest.json": text + "]"})
		r, err := openRecord(readerFiles(t, dir), filepath.Join(dir, "t"), "")
		if err != nil {
			t.Fatal(err)
		}
		parts, err := r.parts([]taskArtifact{try.wanted})
		got := []string{fmt.Sprint(err)}
		if err == nil {
			got = nil
			for _, p := range parts {
				rel, _ := filepath.Rel(dir, p.Source)
				got = append(got, p.Target+"="+rel)
			}
			if first := "logs/artifacts=t/artifacts/logs/artifacts"; got[0] != first {
				t.Errorf("%s: %q comes first", try.lines, got[0])
			}
			got = got[1:]
		}
		if !strings.HasSuffix(strings.Join(got, " "), try.want) && !(err != nil && strings.Contains(err.Error(), try.want)) || err == nil && !slices.Contains(got, try.want) {
			t.Errorf("%s: got %q, not %q", try.lines, got, try.want)
		}
	}
}

// A problem of another kind gets the only artifact that was collected, at the path in the trial that the manifest
// names.
func TestOnlyArtifact(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"secret": "s", "t/artifacts/app/answer": "a", "t/artifacts/logs/artifacts/x": ""})
	if err := os.Symlink("../../secret", filepath.Join(dir, "t", "artifacts", "up")); err != nil {
		t.Fatal(err)
	}
	const always = `{"source":"/logs/artifacts","destination":"artifacts/logs/artifacts","type":"directory","status":"ok"}`
	for lines, want := range map[string]string{
		always: "artifacts/logs/artifacts",
		always + `,{"source":"/app","destination":"artifacts/app","type":"directory","status":"ok"}`:                          "artifacts/app",
		always + `,{"source":"/app","destination":"../secret","type":"file","status":"ok"}`:                                   `"../secret" is outside of the trial`,
		always + `,{"source":"/app","destination":"artifacts/../../secret","type":"file","status":"ok"}`:                      "outside of the trial",
		always + `,{"source":"/app","destination":"/etc/passwd","type":"file","status":"ok"}`:                                 "outside of the trial",
		always + `,{"source":"/app","destination":"artifacts/up","type":"file","status":"ok"}`:                                "a link that points outside of the trial",
		always + `,{"source":"/app","destination":"","type":"file","status":"ok"}`:                                            "outside of the trial",
		always + `,{"source":"/app","destination":"artifacts/gone","type":"file","status":"ok"}`:                              "artifacts/gone no longer exists",
		`{"source":"/app","destination":"artifacts/app","type":"directory","status":"failed"}`:                                "nothing was collected",
		`{"source":"/a","destination":"artifacts/app","status":"ok"},{"source":"/b","destination":"artifacts","status":"ok"}`: "2 artifacts were collected",
	} {
		lay(t, dir, map[string]string{"t/artifacts/manifest.json": "[" + lines + "]"})
		r, err := openRecord(readerFiles(t, dir), filepath.Join(dir, "t"), "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.singleArtifact()
		if err != nil {
			got = err.Error()
		} else if got, err = filepath.Rel(filepath.Join(dir, "t"), got); err != nil {
			t.Fatal(err)
		}
		if got = filepath.ToSlash(got); err == nil && got != want || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", lines, got, want)
		}
	}
}

// Invalid manifests, and directories of steps that are links out of the task.
func TestManifestsThatAreNone(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{
		"none/artifacts/x": "", "torn/artifacts/manifest.json": "[{", "object/artifacts/manifest.json": "{}", "number/artifacts/manifest.json": `[{"source": 3}]`,
		"huge/artifacts/manifest.json": "[" + strings.Repeat(`{"source":"`+strings.Repeat("x", 1<<16)+`"},`, 200) + "{}]",
		"linked/steps/":                "", "elsewhere/artifacts/manifest.json": "[]", "pipe/artifacts/": "", "folder/artifacts/manifest.json/x": "",
	})
	if err := os.Symlink("../../elsewhere", filepath.Join(dir, "linked", "steps", "one")); err != nil {
		t.Fatal(err)
	}
	files := readerFiles(t, dir)
	for trial, want := range map[string]string{
		"none": "it has no artifacts/manifest.json", "gone": "no longer exists", "torn": "unexpected end of the file", "object": "want an array, not object",
		"number": "want a text, not number", "huge": "larger than 8 MiB", "linked": "outside of the trial", "folder": "its artifacts/manifest.json: ",
	} {
		step := ""
		if trial == "linked" {
			step = "one"
		}
		if _, err := openRecord(files, filepath.Join(dir, trial), step); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", trial, err)
		}
	}
}

const steppedProblem = `
problem "stages" {
  entry = "sh run.sh"
  pytest { root = "tests" }
  checkpoint "one" { order = 1 }
  checkpoint "two" { order = 2 }
  checkpoint "three" { order = 3 }
}
solution "recorded" { harbor_job = "jobs/j" }
`

// A step is a checkpoint. A step before which a trial ended is not reached, unless something else than the solution
// ended the trial.
func TestStepsOfTrials(t *testing.T) {
	step := func(name string, reward any, exception any) object {
		o := object{"step_name": name, "verifier_result": nil, "exception_info": exception}
		if reward != nil {
			o["verifier_result"] = object{"rewards": object{"reward": reward}}
		}
		return o
	}
	trials := map[string][]object{
		"whole":   {step("one", 1, nil), step("two", 0.5, nil), step("three", 0, nil)},
		"stopped": {step("one", 0.25, nil)},
		"spent":   {step("one", nil, trialException("AgentTimeoutError", "late"))},
		"broken":  {step("one", 1, nil), step("two", nil, trialException("RewardFileNotFoundError", "none"))},
		"swapped": {step("two", 1, nil), step("one", 1, nil)},
		"other":   {step("one", 1, nil), step("zwei", 1, nil)},
		"more":    {step("one", 1, nil), step("two", 1, nil), step("three", 1, nil), step("four", 1, nil)},
		"single":  nil,
	}
	files := map[string]string{}
	for name, steps := range trials {
		files[name+"/result.json"] = encodeTrial(name, "org/stages", object{"step_results": steps, "agent_result": nil})
		for _, s := range steps {
			at := name + "/steps/" + s["step_name"].(string) + "/artifacts/"
			files[at+"manifest.json"], files[at+"app/a"] = artifactManifest("/app", "directory"), "1"
		}
	}
	files["failed/result.json"] = encodeTrial("failed", "org/stages", object{"exception_info": trialException("HealthcheckError", "sick"), "verifier_result": nil})
	dir := t.TempDir()
	lay(t, dir, map[string]string{"fevalgraph.hcl": steppedProblem, "tests/test_one.py": "", "tests/test_two.py": "", "tests/test_three.py": ""})
	lay(t, filepath.Join(dir, "jobs", "j"), files)
	cfg, found := lang.Load(lang.Options{Inputs: lang.Inputs{Dir: dir}, Extensions: lang.Extensions{Readers: []lang.Reader{jobReader()}}})
	if len(found) > 0 {
		t.Fatal(found)
	}
	var got []string
	for _, s := range cfg.Solutions {
		line := s.Name
		for i, c := range s.Checkpoints {
			switch at := filepath.Join(dir, "jobs", "j", s.Name, "steps", c.Checkpoint.Name, "artifacts", "app"); {
			case c.Missing:
				line += " -"
			case c.Unusable != "":
				line += " !"
			case c.Source == at && c.Entry == "sh run.sh":
				line += " " + orDash(s.Recorded.Checkpoints[i].Score)
			default:
				line += " " + c.Source
			}
		}
		got = append(got, line)
	}
	if want := []string{"broken 1 - !", "failed ! ! !", "more ! ! !", "other ! ! !", "single ! ! !", "spent - - -", "stopped 0.25 - -", "swapped ! ! !", "whole 1 0.5 0"}; !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	for _, s := range cfg.Solutions {
		want := map[string]string{
			"broken": "the trial broken, step three, cannot be graded again: it never started; Harbor recorded RewardFileNotFoundError (verifier_failed): none",
			"other":  "the trial other cannot be graded again: its steps are one, zwei, but the problem's steps are one, two, three",
			"single": "the trial single cannot be graded again: it has no steps, but the problem has 3",
		}[s.Name]
		if got := s.Checkpoints[2].Unusable; want != "" && got != want {
			t.Errorf("%s: %q", s.Name, got)
		}
	}
}
