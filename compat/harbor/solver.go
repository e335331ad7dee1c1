package harbor

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/compat/document"
	"github.com/fevalgraph/fevalgraph/lang"
)

// solveScript is the script that Harbor's oracle runs.
const solveScript = "solve.sh"

// solver returns how the task's own solution runs where its agent would, as Harbor's oracle does.
func (t *task) solver() *lang.MadeSolver {
	environment, agent := t.table(t.Root, "environment"), t.table(t.Root, "agent")
	in := taskVerifier{User: t.user(agent, "user"), Env: map[string]string{"DEBIAN_FRONTEND": "noninteractive"}, Inherit: map[string]string{}}
	if in.Image = t.text(environment, "docker_image"); in.Image == "" {
		t.recipe(&in, filepath.Join(t.dir, "environment"))
	}
	t.variables(environment, in.Env, in.Inherit)
	t.variables(t.table(t.Root, "solution"), in.Env, in.Inherit)
	t.resources(&in, environment, []*yaml.Node{agent})
	m := &lang.MadeSolver{Made: t.container(&in), Steps: map[string]lang.MadeStep{}, Unusable: t.unsolvable(&in, environment)}
	m.Attributes["capabilities"] = "default" // as Harbor's containers have
	if !slices.ContainsFunc(t.Steps, func(s taskStep) bool { return s.Verifier.Image != in.Image || s.Verifier.Dockerfile != in.Dockerfile }) {
		for _, name := range []string{"image", "dockerfile", "context"} { // where the verifier's is replaced, this is, too
			delete(m.Attributes, name)
		}
	}
	for i := range t.Steps {
		m.Steps[t.Steps[i].Name] = t.solverStep(&t.Steps[i], agent)
	}
	return m
}

// unsolvable returns the reason why the agent's environment is not made here.
func (t *task) unsolvable(in *taskVerifier, environment *yaml.Node) string {
	const instead = "; write reference blocks with the agent's artifacts"
	if t.files.Exists(filepath.Join(t.dir, "environment", composeFile)) {
		return "the agent's environment is environment/" + composeFile + ", whose services references do not start" + instead
	}
	if in.Image == "" && in.Dockerfile == "" {
		return "the agent's environment has no image: environment/Dockerfile is missing, and [environment] has no docker_image" + instead
	}
	if document.At(environment, "healthcheck") != nil {
		return "the agent's environment has a healthcheck, which references do not support" + instead
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		for _, hook := range t.hooks(s) {
			if service := t.text(hook, "service"); service != "" && service != composeMain || t.user(hook, "user") != in.User {
				return "[[verifier.collect]] has a hook of another service or user than the agent's, which references do not run" + instead
			}
		}
		if !t.Multi {
			continue
		}
		agent := document.At(s.At, "agent")
		for _, key := range []string{"user", "network_mode", "allowed_hosts"} {
			if document.At(agent, key) != nil {
				return fmt.Sprintf("the agent of the step %s has %s, but references have one container for all steps%s", s.Name, key, instead)
			}
		}
		if document.At(s.At, "healthcheck") != nil {
			return fmt.Sprintf("the step %s has a healthcheck, which references do not support%s", s.Name, instead)
		}
	}
	return ""
}

// hooks returns the commands that run before a step's artifacts are collected.
func (t *task) hooks(s *taskStep) []*yaml.Node {
	all := t.tables(t.table(t.Root, "verifier"), "collect")
	if t.Multi {
		all = append(slices.Clip(all), t.tables(t.table(s.At, "verifier"), "collect")...)
	}
	return all
}

// solverStep returns the script of a step: its own or, if the step has no solution, the task's.
func (t *task) solverStep(s *taskStep, agent *yaml.Node) (made lang.MadeStep) {
	made.Directory, made.Script = filepath.Join(t.dir, "solution"), solveScript
	limit := t.number(agent, "timeout_sec", 0)
	if t.Multi {
		if own := filepath.Join(t.dir, "steps", s.Name, "solution"); t.files.Exists(own) {
			made.Directory = own
		}
		limit = t.number(t.table(s.At, "agent"), "timeout_sec", limit)
		if dir := filepath.Join(t.dir, "steps", s.Name, "workdir"); t.files.Exists(dir) {
			made.Workdir = dir
		}
	}
	for _, hook := range t.hooks(s) {
		limit := time.Duration(t.number(hook, "timeout_sec", 60) * float64(time.Second))
		made.After = append(made.After, lang.SolverCommand{Line: t.text(hook, "command"), Timeout: limit})
	}
	made.Timeout = time.Duration(limit * float64(time.Second))
	at := filepath.Join(made.Directory, solveScript)
	if !t.files.Exists(at) {
		made.Unusable = fmt.Sprintf("%s not found; write it, or write reference blocks", t.inside(at))
		return made
	}
	if slices.ContainsFunc(s.Artifacts, func(a taskArtifact) bool { return strings.HasPrefix(a.Source+"/", "/solution/") }) {
		made.Unusable = "an artifact is in /solution, the directory of the task's own solution, which verifiers must not read; write reference blocks"
		return made
	}
	if made.LeaveOut = t.leftOut([]string{made.Directory}); slices.Contains(made.LeaveOut, at) {
		made.Unusable = fmt.Sprintf("%s excludes %s; include it, or write reference blocks", harborignored, t.inside(at))
	}
	return made
}
