package harbor

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// block is the name of the blocks that read Harbor's own files.
const block = "harbor"

// replayed is the tag of problems that are graded in another way than Harbor would.
const replayed = "replayed"

func taskReaders() []lang.Reader {
	return []lang.Reader{{
		Owner: "problem", Driver: "verifier", Read: readTask,
		Block: lang.BlockSchema{
			Name: block, Doc: "Reads a task of Harbor from its task.toml; attributes and blocks next to it win.",
			Attributes: []lang.AttributeSchema{
				{Name: "task", Type: lang.TypeText, Path: true, Required: true, Doc: "Directory of the task, which has its task.toml."},
				{Name: "mode", Type: lang.TypeText, Default: `"harbor"`, Values: []string{"harbor", "artifacts"}, Doc: "How a shared verifier, which Harbor runs in the agent's container, is judged. \"harbor\": an error. \"artifacts\": in a new container of the same image, with the artifacts in place and the tag " + replayed + "."},
				{Name: "references", Type: lang.TypeText, Default: `"solution"`, Values: []string{"solution", "none"}, Doc: "\"solution\": without reference blocks, solution/solve.sh must pass and a no-op must fail."},
			},
		},
	}}
}

// readTask reads a task's directory.
func readTask(files *lang.ReaderFiles, given map[string]string) (*lang.Made, diag.List) {
	t := openTask(files, given["task"])
	made := &lang.Made{Attributes: map[string]any{"name": path.Base(t.Name)}}
	if t.Root == nil {
		return made, t.Mistakes
	}
	tags := t.Keywords
	for i := range t.Steps {
		if s := &t.Steps[i]; s.Verifier.Mode == shared {
			if given["mode"] != "artifacts" {
				t.Fail(s.Verifier.At, "the verifier is shared: it runs in the agent's own container, which is not kept. With mode = \"artifacts\" in the harbor block it runs in a new one, with the artifacts in place")
				break
			}
			if i == 0 {
				tags = append(tags, replayed)
			}
		}
		if v := &t.Steps[i].Verifier; v.Collects {
			t.Warn(v.At, "the commands of verifier.collect ran where the agent did: solutions have to hold what they left")
		}
	}
	made.Attributes["title"], made.Attributes["description"] = path.Base(t.Name), t.Description
	made.Attributes["tags"], made.Attributes["author"] = tags, strings.Join(t.Authors, ", ")
	made.Attributes["release"] = t.release()
	// What is the same in all steps is the problem's, so that it is written once to override it.
	var all []lang.Made
	for i := range t.Steps {
		all = append(all, t.madeVerifier(&t.Steps[i]))
	}
	made.Blocks = append(made.Blocks, t.seenBlock())
	if len(all) == 0 {
		return made, t.Mistakes
	}
	common := lang.Made{Attributes: maps.Clone(all[0].Attributes), Blocks: all[0].Blocks}
	for _, one := range all {
		maps.DeleteFunc(common.Attributes, func(name string, value any) bool { return !reflect.DeepEqual(one.Attributes[name], value) })
		if !sameBlocks(one.Blocks, common.Blocks) {
			common.Blocks = nil
		}
	}
	made.Blocks = append(made.Blocks, lang.MadeBlock{Kind: "verifier", Made: common})
	for i, own := range all {
		maps.DeleteFunc(own.Attributes, func(name string, _ any) bool { _, same := common.Attributes[name]; return same })
		if common.Blocks != nil {
			own.Blocks = nil
		}
		step := lang.MadeBlock{Kind: "checkpoint", Labels: []string{t.Steps[i].Name}, At: t.Place(t.Steps[i].At)}
		if len(own.Attributes)+len(own.Blocks) > 0 {
			step.Blocks = []lang.MadeBlock{{Kind: "verifier", At: step.At, Made: own}}
		}
		made.Blocks = append(made.Blocks, step)
	}
	if given["references"] != "none" && !t.Mistakes.HasErrors() {
		made.Solver = t.solver()
	}
	return made, t.Mistakes
}

func sameBlocks(a, b []lang.MadeBlock) bool {
	strip := func(all []lang.MadeBlock) (stripped []lang.MadeBlock) {
		for _, one := range all {
			one.At = diag.Range{}
			stripped = append(stripped, one)
		}
		return stripped
	}
	return reflect.DeepEqual(strip(a), strip(b))
}

// madeVerifier returns a step's verifier as a block.
func (t *task) madeVerifier(s *taskStep) lang.Made {
	v := &s.Verifier
	m := t.container(v)
	m.Attributes["tests"], m.Attributes["timeout"], m.Attributes["capabilities"] = v.Tests, v.Timeout, "none"
	if v.Timeout == "0s" {
		m.Attributes["timeout"] = nil
	}
	if len(v.LeaveOut) > 0 {
		m.Attributes["leave_out"] = v.LeaveOut
	}
	text := t.script(v)
	if asRoot().MatchString(text) {
		m.Attributes["capabilities"] = "default"
	}
	for _, a := range t.placed(s) {
		place := t.Place(s.At)
		m.Blocks = append(m.Blocks, lang.MadeBlock{Kind: "artifact", Labels: []string{a.Source}, At: place, Made: lang.Made{Attributes: map[string]any{"exclude": a.Exclude}}})
	}
	m.Blocks = append(append(m.Blocks, v.Services...), brokenIf(text)...)
	return m
}

// container returns the attributes of a verifier's container.
func (t *task) container(v *taskVerifier) lang.Made {
	m := lang.Made{Attributes: map[string]any{
		"user": v.User, "workdir": v.Workdir, "env": v.Env, "inherit": v.Inherit, "network": v.Network, "gpu": v.GPU,
	}}
	switch v.Network {
	case "no-network":
		m.Attributes["network"] = "none"
	case "allowlist":
		m.Attributes["hosts"] = v.Hosts
	}
	if v.Image != "" {
		m.Attributes["image"] = v.Image
	}
	if v.Dockerfile != "" {
		m.Attributes["dockerfile"], m.Attributes["context"] = v.Dockerfile, v.Context
	}
	if v.CPUs > 0 {
		m.Attributes["cpus"] = v.CPUs
	}
	if v.Memory != "" {
		m.Attributes["memory"] = v.Memory
	}
	return m
}

// placed returns the artifacts that a verifier finds in place, or, if none is declared, the agent's working
// directory.
func (t *task) placed(s *taskStep) (all []taskArtifact) {
	for _, a := range s.Artifacts {
		if a.Source != "/tests" && a.Source != "/logs/verifier" {
			all = append(all, a)
		}
	}
	if len(all) == 0 && s.Verifier.Workdir != "" {
		t.Warn(nil, fmt.Sprintf("it declares no artifacts, so solutions go to %s, where its agent works", s.Verifier.Workdir))
		all = []taskArtifact{{Source: path.Clean(s.Verifier.Workdir)}}
	}
	return all
}

// script returns the text of the verifier's script, or "" if it is in the image.
func (t *task) script(v *taskVerifier) string {
	places := v.Tests
	if v.Dockerfile != "" && len(places) == 0 {
		places = []string{v.Context}
	}
	for i := len(places) - 1; i >= 0; i-- {
		if text, err := t.files.Read(filepath.Join(places[i], script)); err == nil {
			return text
		}
	}
	return ""
}

// asRoot matches programs that need more than root's own files.
var asRoot = lazyregexp.New(`(?m)(^|[\s;&|(])(apt|apt-get|apk|chown|dnf|dpkg|runuser|setpriv|su|sudo|useradd|yum)\s`)

// brokenIf returns what known scripts write next to a reward of 0 when their machine failed.
func brokenIf(script string) []lang.MadeBlock {
	if !strings.Contains(script, "reward_details.json") { // SlopCodeBench's
		return nil
	}
	rule := func(pointer string, values ...string) lang.MadeBlock {
		return lang.MadeBlock{Kind: "broken_if", Made: lang.Made{Attributes: map[string]any{"file": "reward_details.json", "pointer": pointer, "values": values}}}
	}
	return []lang.MadeBlock{rule("/infrastructure_failure", "1"), rule("/pytest_rc", "3", "4")}
}
