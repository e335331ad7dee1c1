package eval

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Finding is one line of the doctor's report.
type Finding struct {
	Subject string `json:"subject"`
	State   string `json:"state"` // ok, warning, missing
	Detail  string `json:"detail"`
}

// Doctor checks the programs, directories and leftovers that matter to a run.
// Containers asks daemons for containers whether or not the configuration needs them.
func Doctor(ctx context.Context, o Options, containers bool) []Finding {
	cfg, diags := lang.Load(o.lang())
	findings := []Finding{o.checkConfig(cfg, diags.HasErrors(), diags.Error())}
	python := diags.HasErrors() || cfg.NeedsPython()
	if python {
		findings = append(findings, checkTool(ctx, "uv"), checkTool(ctx, "uvx"))
	}
	findings = append(findings, o.checkCache(cfg), o.checkLeftovers())
	for _, k := range o.Kinds {
		if k.Doctor == nil || k.Name == "local" && !python {
			continue
		}
		site := o.bareSite()
		site.Trusts = o.openTrust().Allows
		findings = append(findings, k.Doctor(ctx, site, cfg, containers)...)
		if err := site.Close(); err != nil {
			findings = append(findings, Finding{k.Name, "warning", err.Error()})
		}
	}
	return append(findings, o.checkClusters()...)
}

// checkClusters lists the project's clusters of machines, with what they cost so far.
func (o *Options) checkClusters() (found []Finding) {
	clusters, err := Clusters(*o)
	if err != nil {
		return []Finding{{"cluster", "warning", err.Error()}}
	}
	for _, c := range clusters {
		state := "ok"
		if c.Orphaned(time.Now()) {
			state = "warning"
		}
		found = append(found, Finding{"cluster", state, c.String()})
	}
	return found
}

func (o *Options) checkConfig(cfg *lang.Config, broken bool, first string) Finding {
	if broken {
		return Finding{"configuration", "warning", first}
	}
	if invalid := Invalid(cfg); len(invalid) > 0 {
		return Finding{"configuration", "warning", invalid.Error()}
	}
	return Finding{"configuration", "ok", fmt.Sprintf("%s, %s in %s", text.Count(len(cfg.Problems), "problem"), text.Count(len(cfg.Solutions), "solution"), cfg.Root)}
}

func checkTool(ctx context.Context, name string) Finding {
	path, err := exec.LookPath(name)
	if err != nil {
		return Finding{name, "missing", "not found in PATH; install uv: pip install uv"}
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return Finding{name, "missing", fmt.Sprintf("%s does not run: %v", path, err)}
	}
	return Finding{name, "ok", strings.TrimSpace(string(out)) + " at " + path}
}

func (o *Options) checkCache(cfg *lang.Config) Finding {
	dir, err := o.cacheDir(cfg)
	if err != nil {
		return Finding{"store", "missing", err.Error()}
	}
	disk, err := cache.OpenDisk(dir, cache.Options{})
	if err != nil {
		return Finding{"store", "missing", err.Error() + "; set FEVALGRAPH_CACHE_DIR to a directory that can be written"}
	}
	if key, _ := o.lookupEnv(storeKeyVariable); disk.Shared() && key == "" {
		return Finding{"store", "warning", dir + " is shared, but results of others are not used: " + storeKeyVariable + " names no key that you share with them"}
	}
	return Finding{"store", "ok", dir + " can be written"}
}

func (o *Options) checkLeftovers() Finding {
	dir := sessionsDir(o.StateDir())
	left, err := backend.Leftovers(dir)
	switch {
	case err != nil:
		return Finding{"leftovers", "warning", err.Error()}
	case len(left) == 0:
		return Finding{"leftovers", "ok", "no sessions of crashed runs"}
	}
	key, _ := o.sessionKey() // without one, none is proved
	if slices.ContainsFunc(left, func(e backend.Entry) bool { return key.Check(e) != nil }) {
		return Finding{"leftovers", "warning", fmt.Sprintf("sessions in %s that this user did not list on this machine; nothing ends them; remove the directory if they are not yours", dir)}
	}
	left = slices.DeleteFunc(left, func(e backend.Entry) bool { return e.Network })
	what := fmt.Sprintf("%d sessions", len(left))
	if len(left) == 0 {
		what = "networks"
	}
	return Finding{"leftovers", "warning", what + " of crashed runs; the next run ends them, or `fevalgraph clean`"}
}
