package upkeep

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/validate"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Doctor checks the programs, directories and leftovers that matter to a run. With containers, it queries
// container daemons even if the configuration does not need them.
func Doctor(ctx context.Context, o options.Options, containers bool) []kind.Finding {
	cfg, diags := lang.Load(o.Lang())
	findings := []kind.Finding{checkConfig(cfg, diags)}
	if diags.HasErrors() {
		cfg = nil
	}
	if cfg == nil || cfg.NeedsPython() {
		findings = append(findings, checkTool(ctx, "uv"), checkTool(ctx, "uvx"))
	}
	findings = append(findings, checkCache(&o, cfg), checkLeftovers(&o))
	for _, k := range o.Kinds {
		site := o.BareSite()
		site.Trusts = o.OpenTrust().Allows
		findings = append(findings, k.Diagnose(ctx, site, cfg, containers)...)
		if err := site.Close(); err != nil {
			findings = append(findings, finding(k.Name, "warning", err.Error()))
		}
	}
	for _, text := range Unidentified(&o, cfg) {
		findings = append(findings, finding("programs", "warning", text))
	}
	return append(findings, checkClusters(&o)...)
}

// Unidentified returns a text for each program that commands of a configuration, which can be nil, start
// without a key that identifies it.
func Unidentified(o *options.Options, cfg *lang.Config) (texts []string) {
	for _, k := range o.Kinds {
		if k.Unidentified != nil && cfg != nil {
			texts = append(texts, k.Unidentified(o.BareSite(), cfg)...)
		}
	}
	return texts
}

// checkClusters lists the project's clusters of machines with their cost so far.
func checkClusters(o *options.Options) (found []kind.Finding) {
	clusters, err := Clusters(*o)
	if err != nil {
		return []kind.Finding{finding("cluster", "warning", err.Error())}
	}
	for _, c := range clusters {
		state := "ok"
		if c.Orphaned(time.Now()) {
			state = "warning"
		}
		found = append(found, finding("cluster", state, c.String()))
	}
	return found
}

func checkConfig(cfg *lang.Config, diags diag.List) kind.Finding {
	if diags.HasErrors() {
		return finding("configuration", "warning", diags.Error())
	}
	if invalid := validate.Invalid(cfg); len(invalid) > 0 {
		return finding("configuration", "warning", invalid.Error())
	}
	return finding("configuration", "ok", fmt.Sprintf("%s, %s in %s", text.Count(len(cfg.Problems), "problem"), text.Count(len(cfg.Solutions), "solution"), cfg.Root))
}

func checkTool(ctx context.Context, name string) kind.Finding {
	path, err := exec.LookPath(name)
	if err != nil {
		return finding(name, "missing", "not found in PATH; install uv: pip install uv")
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return finding(name, "missing", fmt.Sprintf("%s does not run: %v", path, err))
	}
	return finding(name, "ok", strings.TrimSpace(string(out))+" at "+path)
}

func checkCache(o *options.Options, cfg *lang.Config) kind.Finding {
	dir, err := o.CacheDir(cfg)
	if err != nil {
		return finding("store", "missing", err.Error())
	}
	disk, err := cache.OpenDisk(dir, cache.Options{})
	if err != nil {
		return finding("store", "missing", err.Error()+"; set FEVALGRAPH_CACHE_DIR to a directory that can be written")
	}
	if key, _ := o.Getenv(options.StoreKeyVariable); disk.Shared() && key == "" {
		return finding("store", "warning", dir+" is shared, but results of others are not used: "+options.StoreKeyVariable+" names no key that you share with them")
	}
	return finding("store", "ok", dir+" can be written")
}

func checkLeftovers(o *options.Options) kind.Finding {
	dir := kind.SessionsDir(o.StateDir())
	left, err := backend.Leftovers(dir)
	switch {
	case err != nil:
		return finding("leftovers", "warning", err.Error())
	case len(left) == 0:
		return finding("leftovers", "ok", "no sessions of crashed runs")
	}
	secret, _ := o.UserKey(true) // without a key, no record is proved
	if slices.ContainsFunc(left, func(e backend.Entry) bool { return backend.SessionKey(secret).Check(e) != nil }) {
		return finding("leftovers", "warning", fmt.Sprintf("sessions in %s that this user did not list on this machine; they are not ended; remove the directory if they are not yours", dir))
	}
	left = slices.DeleteFunc(left, func(e backend.Entry) bool { return e.Network })
	what := fmt.Sprintf("%d sessions", len(left))
	if len(left) == 0 {
		what = "networks"
	}
	return finding("leftovers", "warning", what+" of crashed runs; the next run ends them, or `fevalgraph clean`")
}

func finding(subject, state, detail string) kind.Finding {
	return kind.Finding{Subject: subject, State: state, Detail: detail}
}
