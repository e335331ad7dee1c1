package cli

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) doctorCommand() *cobra.Command {
	containers := false
	cmd := command("doctor", "Check what evaluation needs on this machine",
		`Doctor checks the programs, directories and leftovers that matter to a run, and
says how to mend what is not right. It asks the Docker daemon when a backend of
the configuration needs one, or with --containers, and the go-judge servers that
it needs. It exits with 3 when a run
could not work.`,
		"  fevalgraph doctor",
		func(cmd *cobra.Command, args []string) error { return a.runDoctor(cmd.Context(), containers) })
	cmd.Flags().BoolVar(&containers, "containers", false, "ask the Docker daemon, whatever the configuration says")
	return cmd
}

// finding is one line of the doctor's report.
type finding struct {
	Subject string `json:"subject"`
	State   string `json:"state"` // ok, warning, missing
	Detail  string `json:"detail"`
}

func (a *app) runDoctor(ctx context.Context, containers bool) error {
	cfg, diags := lang.Load(a.langOptions())
	findings := []finding{a.checkConfig(cfg, diags.HasErrors(), diags.Error())}
	findings = append(findings, a.checkTool(ctx, "uv"), a.checkTool(ctx, "uvx"), a.checkPython(ctx), checkNetwork(), a.checkCache(cfg), a.checkLeftovers())
	findings = append(findings, a.checkDocker(ctx, cfg, containers)...)
	findings = append(findings, a.checkJudges(ctx, cfg)...)
	missing := false
	var rows [][]string
	for _, f := range findings {
		missing = missing || f.State == "missing"
		rows = append(rows, []string{f.State, f.Subject, f.Detail})
	}
	if a.flags.json {
		if err := a.writeJSON(map[string]any{"schema": 1, "findings": findings}); err != nil {
			return err
		}
	} else {
		view.Table(a.io.Out, []string{"state", "what", "detail"}, rows, a.color())
	}
	if missing {
		return exit(exitNotJudged, nil)
	}
	return nil
}

func (a *app) checkConfig(cfg *lang.Config, broken bool, first string) finding {
	if broken {
		return finding{"configuration", "warning", first}
	}
	if invalid := invalidProblems(cfg); len(invalid) > 0 {
		return finding{"configuration", "warning", invalid.Error()}
	}
	return finding{"configuration", "ok", fmt.Sprintf("%s, %s in %s", text.Count(len(cfg.Problems), "problem"), text.Count(len(cfg.Solutions), "solution"), cfg.Root)}
}

func (a *app) checkTool(ctx context.Context, name string) finding {
	path, err := exec.LookPath(name)
	if err != nil {
		return finding{name, "missing", "not found in PATH; install uv: pip install uv"}
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return finding{name, "missing", fmt.Sprintf("%s does not run: %v", path, err)}
	}
	return finding{name, "ok", strings.TrimSpace(string(out)) + " at " + path}
}

func (a *app) checkPython(ctx context.Context) finding {
	path, _ := a.io.LookupEnv("PATH")
	home, _ := a.io.LookupEnv("HOME")
	b := local.New(cache.NewMemory(), local.Options{Path: path, Env: []string{"PATH=" + path, "HOME=" + home}, Scratch: scratchDir()})
	interpreter, version, err := b.Interpreter(ctx)
	if err != nil {
		return finding{"python", "missing", err.Error()}
	}
	return finding{"python", "ok", version + " at " + interpreter}
}

// checkNetwork tells what tests with fixed ports get. Either way they work.
func checkNetwork() finding {
	if err := local.PrivateNetwork(); err != nil {
		return finding{"ports", "ok", fmt.Sprintf("tests with the same fixed ports run one after another: %v", err)}
	}
	return finding{"ports", "ok", "tests with fixed ports get a private network"}
}

func (a *app) checkCache(cfg *lang.Config) finding {
	dir, err := a.cacheDir(cfg)
	if err != nil {
		return finding{"store", "missing", err.Error()}
	}
	if _, err := cache.OpenDisk(dir, cache.Options{}); err != nil {
		return finding{"store", "missing", err.Error() + "; set FEVALGRAPH_CACHE_DIR to a directory that can be written"}
	}
	return finding{"store", "ok", dir + " can be written"}
}

func (a *app) checkLeftovers() finding {
	left, err := backend.Leftovers(filepath.Join(a.projectState(), "sessions"))
	switch {
	case err != nil:
		return finding{"leftovers", "warning", err.Error()}
	case len(left) > 0:
		return finding{"leftovers", "warning", fmt.Sprintf("%d sessions of crashed runs; the next run ends them, or `fevalgraph clean`", len(left))}
	}
	return finding{"leftovers", "ok", "no sessions of crashed runs"}
}
