package harbor

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// lay writes files below a directory; a name that ends with a slash is an empty directory.
func lay(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if name[len(name)-1] == '/' {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// object is JSON to be.
type object map[string]any

func (o object) String() string {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// encodeTrial returns the result.json of a finished trial of task; more overrides members.
func encodeTrial(name, task string, more object) string {
	o := object{
		"id": "00000000-0000-4000-8000-000000000001", "task_name": task, "trial_name": name, "trial_uri": "file:///jobs/j/" + name,
		"task_id": object{"path": "tasks/" + task}, "source": "set", "task_checksum": "c0ffee", "config": object{"task": object{"path": "tasks/" + task}},
		"agent_info":      object{"name": "coder", "version": "1", "model_info": object{"name": "m1", "provider": "maker"}},
		"agent_result":    object{"n_input_tokens": 1000, "n_output_tokens": 200, "cost_usd": 0.125},
		"agent_execution": object{"started_at": "2026-11-01T10:01:00Z"},
		"verifier_result": object{"rewards": object{"reward": 1.0}},
		"started_at":      "2026-11-01T10:00:00Z", "finished_at": "2026-11-01T10:05:00Z",
	}
	for k, v := range more {
		o[k] = v
	}
	return o.String()
}

// artifactManifest returns a manifest of artifacts that were collected, as source = type.
func artifactManifest(collected ...string) string {
	text := `[{"source":"/logs/artifacts","destination":"artifacts/logs/artifacts","type":"directory","status":"ok","service":null,"exclude":[]}`
	for i := 0; i < len(collected); i += 2 {
		text += fmt.Sprintf(`,{"source":%q,"destination":"artifacts%s","type":%q,"status":"ok","service":null,"exclude":[]}`, collected[i], collected[i], collected[i+1])
	}
	return text + "]"
}

// commandProblems are problems whose score the solution prints.
const commandProblems = `
problem "any" {
  for_each = ["word", "other"]
  name     = each.key
  command {
    root      = "grade"
    directory = "grade"
    solution  = "answer"
    argv      = ["sh", "grade.sh"]
  }
}
solution "recorded" { harbor_job = "jobs/j" }
`

// load loads a project with commandProblems, or another configuration, and with files and links of jobs/j.
func load(t *testing.T, config string, files map[string]string, links ...map[string]string) (*lang.Config, diag.List, string) {
	t.Helper()
	dir := t.TempDir()
	lay(t, dir, map[string]string{"fevalgraph.hcl": config, "grade/grade.sh": "cat ../answer\n"})
	job := filepath.Join(dir, "jobs", "j")
	lay(t, job, files)
	for _, all := range links {
		for name, to := range all {
			if err := os.Symlink(to, filepath.Join(job, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cfg, found := lang.Load(lang.Options{Inputs: lang.Inputs{Dir: dir}, Extensions: lang.Extensions{Readers: []lang.Reader{jobReader()}}})
	return cfg, found, job
}

// texts returns the details of findings, a line each.
func texts(found diag.List) string {
	var all strings.Builder
	for _, d := range found {
		fmt.Fprintf(&all, "%s: %s: %s\n", d.Severity, d.Summary, d.Detail)
	}
	return all.String()
}
