package frontier

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/compat/document"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// heeded lists the keys of a config.yaml that graders or this package use.
var heeded = map[string][]string{
	"":                  {"tag", "dependencies", "datasets", "variant_id", "runtime"},
	"runtime":           {"timeout_seconds", "requires_gpu", "environment", "language", "docker", "resources"},
	"runtime.resources": {"accelerators", "instance_type", "cpus", "memory", "disk_tier", "disk_size", "cloud", "region", "image_id"},
	"runtime.docker":    {"image", "gpu", "dind"},
}

// research is a problem of the research track.
type research struct {
	*document.File
	files    *lang.ReaderFiles
	dir      string
	problems string   // the directory of all problems
	name     string   // below it
	parents  []string // of name, outermost first
}

func openResearch(files *lang.ReaderFiles, dir string) (*research, error) {
	r := &research{files: files, dir: dir, File: &document.File{}}
	for r.problems = dir; filepath.Base(r.problems) != "problems"; r.problems = filepath.Dir(r.problems) {
		if r.problems == filepath.Dir(r.problems) {
			return nil, fmt.Errorf("%s is not in a directory named problems", dir)
		}
	}
	name, err := filepath.Rel(r.problems, dir)
	r.name = filepath.ToSlash(name)
	for i, c := range r.name {
		if c == '/' {
			r.parents = append(r.parents, r.name[:i])
		}
	}
	if config := filepath.Join(dir, "config.yaml"); files.Exists(config) {
		r.File = document.OpenYAML(files, config)
	}
	return r, err
}

func readResearch(files *lang.ReaderFiles, given map[string]string) (*lang.Made, diag.List) {
	r, err := openResearch(files, given["path"])
	if err != nil {
		return nil, diag.List{{Code: "bad-path", Summary: "Bad path", Detail: err.Error() + "."}}
	}
	made := &lang.Made{Attributes: map[string]any{"name": r.name, "category": strings.Split(r.name, "/")[0], "spec": filepath.Join(r.dir, "readme")}}
	if r.Mistakes.HasErrors() {
		return made, r.Mistakes
	}
	if !files.Exists(filepath.Join(r.dir, "evaluate.sh")) {
		r.Fail(nil, "evaluate.sh is missing next to it")
	}
	r.unheeded()
	if tag := document.Scalar(document.At(r.Root, "tag"), ""); tag != "" {
		made.Attributes["tags"] = []string{tag}
	}
	made.Blocks = append(made.Blocks, r.command(given), r.resources(), seenBlock(r.File, prompted(), "*.py", "*.sh", "*.toml", "*.txt", "resources/**"))
	if shipped := filepath.Join(r.dir, "reference.py"); files.Exists(shipped) {
		made.Blocks = append(made.Blocks, lang.MadeBlock{Kind: "reference", Made: lang.Made{Attributes: map[string]any{"source": shipped, "score": earns}}})
	}
	for _, parent := range r.parents { // files for all problems below it, placed next to them as there
		common := filepath.Join(r.problems, filepath.FromSlash(parent), "common")
		if !files.Exists(common) {
			continue
		}
		made.Blocks = append(made.Blocks, lang.MadeBlock{Kind: "asset", Labels: []string{"common of " + parent}, Made: lang.Made{Attributes: map[string]any{
			"source": common, "target": "research/" + parent + "/common", "ignore": []string{"**/__pycache__/**"},
		}}})
	}
	return made, r.Mistakes
}

// unheeded warns of settings that are not used.
func (r *research) unheeded() {
	for _, of := range slices.Sorted(maps.Keys(heeded)) {
		n := r.Root
		if of != "" {
			n = document.At(r.Root, strings.Split(of, ".")...)
		}
		for _, key := range document.Keys(n) {
			if !slices.Contains(heeded[of], key) {
				r.Warn(document.At(n, key), strings.TrimPrefix(of+"."+key, ".")+" is not supported")
			}
		}
	}
}

func (r *research) runtime(key ...string) *yaml.Node {
	return document.At(r.Root, append([]string{"runtime"}, key...)...)
}

func isTrue(n *yaml.Node) bool {
	return n != nil && n.Tag == "!!bool" && strings.EqualFold(n.Value, "true")
}

func (r *research) gpu() bool {
	return isTrue(r.runtime("requires_gpu")) || isTrue(r.runtime("docker", "gpu")) || document.Scalar(r.runtime("resources", "accelerators"), "") != ""
}

// command returns the block that grades the problem.
func (r *research) command(given map[string]string) lang.MadeBlock {
	directory := "research/" + r.name
	var setup []string
	if given["type"] != "docker" { // elsewhere than in a container, /work is the workspace
		setup = append(setup, fmt.Sprintf(`work=${PWD%%/%s}; grep -rlI /work/ "$work/research" | xargs -r sed -i "s|/work/|$work/|g"`, directory))
	}
	places := []string{"."}
	for i := range r.parents {
		places = append(places, path.Join(strings.Repeat("../", len(r.parents)-i), "common"))
	}
	setup = append(setup, fmt.Sprintf("find %s -name '*.sh' -exec chmod +x {} + 2>/dev/null || true", strings.Join(places, " ")),
		"if [ -f set_up_env.sh ]; then ./set_up_env.sh; fi")
	timeout := "1800s"
	if n, err := strconv.ParseFloat(document.Scalar(r.runtime("timeout_seconds"), ""), 64); err == nil && n > 0 {
		timeout = strconv.FormatFloat(n, 'f', -1, 64) + "s"
	}
	rules := given["compat"]
	if rules == "" {
		rules = "frontier"
	}
	made := map[string]any{
		"root": r.dir, "directory": directory, "solution": "execution_env/solution_env/solution.py", "setup": setup,
		"run": "./evaluate.sh", "timeout": timeout, "gpu": r.gpu(),
	}
	if how := given["import"]; how != "" {
		made["import"] = how
	}
	if uv := document.Scalar(document.At(r.Root, "dependencies", "uv_project"), ""); uv != "" {
		made["uv_project"] = uv
		if r.files.Exists(filepath.Join(r.dir, uv, "uv_overrides.txt")) {
			made["uv_overrides"] = "uv_overrides.txt"
		}
	}
	docker := map[string]any{"dind": isTrue(r.runtime("docker", "dind"))}
	if given["images"] == "own" {
		docker["image"] = document.Scalar(r.runtime("docker", "image"), "python:3.11-slim-trixie")
	}
	return lang.MadeBlock{Kind: "command", Made: lang.Made{Attributes: made, Blocks: []lang.MadeBlock{
		{Kind: "score", Made: lang.Made{Attributes: map[string]any{"from": "output", "compat": rules}}},
		{Kind: "docker", Made: lang.Made{Attributes: docker}},
	}}}
}

// resources returns the resources that machines need.
func (r *research) resources() lang.MadeBlock {
	made := map[string]any{}
	for name, key := range map[string]string{
		"accelerators": "accelerators", "cloud": "cloud", "region": "region", "instance": "instance_type", "cpus": "cpus", "memory": "memory", "disk": "disk_size", "image": "image_id",
	} {
		if value := document.Scalar(r.runtime("resources", key), ""); value != "" {
			made[name] = value
		}
	}
	if made["accelerators"] == nil && r.gpu() {
		made["accelerators"] = "L4:1"
	}
	return lang.MadeBlock{Kind: "resources", Made: lang.Made{Attributes: made}}
}
