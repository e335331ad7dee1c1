package harbor

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/compat/document"
	"github.com/fevalgraph/fevalgraph/internal/dockerfile"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Values of task.toml that no agent sees: descriptions, which nothing reads, and those of verifiers. All others, also
// unknown ones, agents see.
var (
	described = lazyregexp.New(`^(schema_version|version|source|(metadata|task|solution)\b.*)$`)
	verifies  = lazyregexp.New(`^(steps\[\d+\]\.)?(verifier|artifacts)\b|^multi_step_reward_(strategy|mode)$`)
)

// seenBlock separates what agents see from what verifies. What a task's nodes have is in rules only if the task has errors, as
// it has no nodes then.
func (t *task) seenBlock() lang.MadeBlock {
	settings, rules := map[string]string{}, map[string]string{}
	for _, leaf := range document.Leaves(t.Root) {
		name := "task.toml " + leaf.Path
		switch {
		case described().MatchString(leaf.Path):
		case !verifies().MatchString(leaf.Path):
			settings[name] = leaf.Value
		case strings.HasPrefix(leaf.Path, "multi_step_reward") || t.Mistakes.HasErrors():
			rules[name] = leaf.Value
		}
	}
	from, ignored := map[string]string{}, []string{"task.toml", "README.md", "trajectory.json", ".gitignore", "**/.harborignore", "solution/**", "steps/*/solution/**", "steps/*/trajectory.json"}
	if t.Multi {
		ignored = append(ignored, "instruction.md")
		for i := range t.Steps {
			name := strings.ReplaceAll(lang.EscapeGlob(t.Steps[i].Name), ",", `\,`)
			from[t.Steps[i].Name] = fmt.Sprintf(`{steps/%s/**,task.toml steps\[%d\].*}`, name, i)
		}
	}
	return lang.MadeBlock{Kind: "seen", Made: lang.Made{Attributes: map[string]any{
		"grading": []string{"tests/**", "steps/*/tests/**"}, "ignored": ignored, "from": from, "settings": settings, "rules": rules, "images": t.images(),
	}}}
}

// images returns the names of the images of the task's containers, or of those that they are built from.
func (t *task) images() (names []string) {
	if image := document.Scalar(document.At(t.Root, "environment", "docker_image"), ""); image != "" {
		names = []string{image}
	} else {
		names = t.bases(filepath.Join(t.dir, "environment", "Dockerfile"))
	}
	for i := range t.Steps {
		v := &t.Steps[i].Verifier
		if names = append(names, v.Image); v.Dockerfile != "" {
			names = append(names, t.bases(v.Dockerfile)...)
		}
		for _, service := range v.Services {
			image, _ := service.Attributes["image"].(string)
			names = append(names, image)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// bases returns the images that a Dockerfile names, with the defaults of its arguments.
func (t *task) bases(file string) []string {
	if !t.files.Exists(file) {
		return nil
	}
	recipe, _ := t.files.Read(file)
	names, _ := dockerfile.Bases([]byte(recipe), nil) // errors are reported where the image is needed
	return names
}

// release is the version that a task has among its releases: Harbor's own or, without one, that of its metadata.
func (t *task) release() string {
	return cmp.Or(t.text(t.table(t.Root, "task"), "version"), document.Scalar(document.At(t.Root, "metadata", "version"), ""))
}

// tasks is a configuration of the tasks that are directories themselves.
const tasks = `
problem "task" {
  for_each = { for f in fileset(".", "*/task.toml") : dirname(f) => dirname(f) }
  invalid  = "report"
  harbor {
    task = each.value
    mode = "artifacts"
  }
}

backend "docker" "verifiers" { image = "verifier" }
`

func configure(dir string) string {
	if found, err := filepath.Glob(filepath.Join(dir, "*", "task.toml")); err != nil || len(found) == 0 {
		return ""
	}
	return tasks
}
