package examples_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// call is a call of fevalgraph in the program of steps, and label begins a step.
var (
	call  = regexp.MustCompile(`\bfg ((?:cache )?[a-z]+)(.*)`)
	label = regexp.MustCompile(`(?m)^([a-z]+)\)`)
)

// Every step and every flag in a workflow exists.
func TestCIFilesFit(t *testing.T) {
	known, used := map[string]bool{}, map[string]bool{}
	steps, err := os.ReadFile(filepath.Join("ci", "step"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range label.FindAllStringSubmatch(string(steps), -1) {
		known[m[1]] = true
	}
	calls := call.FindAllStringSubmatch(strings.ReplaceAll(string(steps), "$sign", "--sign"), -1)
	for _, m := range calls {
		help := program(t, 0, append(strings.Fields(m[1]), "--help")...)
		for _, flag := range regexp.MustCompile(`(?:^|\s)(--[a-z-]+|-[a-z])\b`).FindAllStringSubmatch(m[2], -1) {
			if !regexp.MustCompile(`(?m)^ +(-\w, )?` + flag[1] + `\b|^ +` + flag[1] + `, `).MatchString(help) {
				t.Errorf("fevalgraph %s: unknown flag %s", m[1], flag[1])
			}
		}
	}
	if len(calls) < 10 {
		t.Errorf("only %d calls of fevalgraph were found", len(calls))
	}
	for _, pattern := range []string{"action.yml", "github/*.yml", "gitlab/*.yml", "gitlab/.*.yml"} {
		names, err := filepath.Glob(filepath.Join("ci", pattern))
		if err != nil || len(names) == 0 {
			t.Errorf("%s: %v, %v", pattern, names, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err == nil {
				err = yaml.Unmarshal(text, new(map[string]any))
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, m := range regexp.MustCompile(`ci/step (\w+)|(?m:^ +(?:steps|FG_STEPS): (.*)$)`).FindAllStringSubmatch(string(text), -1) {
				for _, step := range strings.Fields(m[1] + m[2]) {
					if strings.Contains(step, "$") || step == "inputs.steps" || step == "}}" {
						continue
					}
					used[step] = true
					if !known[step] {
						t.Errorf("%s calls the step %q, which is not there", name, step)
					}
				}
			}
		}
	}
	for step := range known {
		if !used[step] {
			t.Errorf("no workflow calls the step %s", step)
		}
	}
}
