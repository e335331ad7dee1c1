package kinds

import (
	"context"
	"fmt"
	"slices"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// localKind returns the kind "local".
func localKind() kind.Kind {
	return kind.Kind{
		Name: local.Kind, New: openLocal, Asks: askLocal, Tools: local.Tools, Doctor: checkLocal, Unidentified: unidentifiedShims,
		Reap: func(func(string) (string, bool)) func(context.Context, backend.Entry) error { return local.Reap },
	}
}

func openLocal(s *kind.Site, b *lang.Backend, env []string) (plan.Executor, error) {
	a := lang.AttributesOf[lang.LocalAttributes](b)
	o := local.Options{
		Probes:      local.Probes{Python: b.Python, Versions: a.Versions, Path: searchPath(s, b), Env: env, Digest: s.Digest},
		Lifecycle:   local.Lifecycle{Scratch: s.Scratch, Registry: s.Registry},
		Confinement: local.Confinement{Isolation: a.Isolation, Isolator: kind.SmallProgram},
	}
	if err := isolate(s, &o, a.Readable, a.Unhashed); err != nil {
		return plan.Executor{}, err
	}
	if !a.PrivateNetwork {
		o.Network = backend.SharedNetwork
	}
	return plan.Executor{Backend: local.New(s.Store, o)}, nil
}

// searchPath returns the PATH of a backend's commands.
func searchPath(s *kind.Site, b *lang.Backend) string {
	path, _ := s.LookupEnv("PATH")
	for _, v := range b.Env {
		if v.Name == "PATH" {
			path = v.Value
		}
	}
	return path
}

// unidentifiedShims lists the shims that commands of local backends start and whose program is unknown.
func unidentifiedShims(s *kind.Site, cfg *lang.Config) []string {
	var lines []string
	for _, p := range cfg.Problems {
		if p.Command != nil {
			lines = slices.Concat(lines, p.Command.Setup, p.Command.Argv)
		}
	}
	for _, t := range cfg.Tasks {
		lines = slices.Concat(lines, t.Setup, t.Argv)
	}
	var shims []string
	for _, b := range cfg.Backends {
		if b.Kind != local.Kind {
			continue
		}
		env := local.Tools(s.LookupEnv)
		for _, name := range slices.Concat(b.Passthrough, b.Inherit) {
			if value, ok := s.LookupEnv(name); ok {
				env = append(env, name+"="+value)
			}
		}
		for _, v := range b.Env {
			env = append(env, v.Name+"="+v.Value)
		}
		on := local.New(s.Store, local.Options{Probes: local.Probes{Path: searchPath(s, b), Env: env}})
		shims = append(shims, on.Unidentified(plan.ProgramWords(slices.Concat(lines, b.Setup)))...)
	}
	slices.Sort(shims)
	shims = slices.Compact(shims)
	for at, shim := range shims {
		shims[at] = fmt.Sprintf("%s starts a program that cannot be identified, so no key changes when it starts another one (hint: use the program's path, or add a command to versions of the backend)", shim)
	}
	return shims
}

// harmless matches commands of known tools that print a version and do nothing else. They run in the root
// directory, with the caller's PATH, where a project can change none of them.
var harmless = lazyregexp.New(`^(?:(?:bash|cargo|clang|clang\+\+|cmake|docker|ffmpeg|g\+\+|gcc|git|java|javac|make|node|npm|perl|php|psql|python3?|redis-server|ruby|rustc|sqlite3|uv) --version` +
	`|(?:gcc|g\+\+) -dump(?:full)?version|java -version|node -v|(?:go|rabbitmqctl) version)$`)

// askLocal lists the commands of the block that are not harmless, an interpreter that is more than a
// version, and the variables that can make uv or an interpreter start other programs.
func askLocal(b *lang.Backend) []string {
	var all []string
	versions := lang.AttributesOf[lang.LocalAttributes](b).Versions
	for _, command := range versions {
		if !harmless().MatchString(command) {
			all = append(all, "run "+command)
		}
	}
	if b.Python != "" && !pythonVersion().MatchString(b.Python) {
		all = append(all, "start the interpreter "+b.Python)
	}
	for _, v := range b.Env {
		if len(versions) > 0 || local.Leads(v.Name) {
			all = append(all, kind.AskVariable(v))
		}
	}
	return all
}

// pythonVersion matches what uv reads as a version, and not as the name of a program.
var pythonVersion = lazyregexp.New(`^(python|cpython|pypy|graalpy)?[@-]?[<>=~!0-9][0-9a-z.,<>=~!*+ -]*$`)

// checkLocal looks for this machine's Python, and reports which network tests with fixed ports have. Both
// kinds work.
func checkLocal(ctx context.Context, s *kind.Site, cfg *lang.Config, _ bool) []kind.Finding {
	if cfg != nil && !cfg.NeedsPython() {
		return nil
	}
	found := []kind.Finding{python(ctx, s), workspaces(s), {Subject: "ports", State: "ok", Detail: "tests with fixed ports get a private network"}}
	if err := local.PrivateNetwork(); err != nil {
		found[2].Detail = fmt.Sprintf("tests with the same fixed ports run one after another: %v", err)
	}
	return append(found, isolationLevel(s))
}

// workspaces reports whether the directory of workspaces can hold them.
func workspaces(s *kind.Site) kind.Finding {
	dir, err := local.New(s.Store, local.Options{Lifecycle: local.Lifecycle{Scratch: s.Scratch}}).Scratch()
	if err != nil {
		return kind.Finding{Subject: "workspaces", State: "missing", Detail: err.Error()}
	}
	return kind.Finding{Subject: "workspaces", State: "ok", Detail: dir + " can hold them"}
}

// isolationLevel reports the level of isolation of sessions, and the reason why it is not higher.
func isolationLevel(s *kind.Site) kind.Finding {
	o := local.Options{Lifecycle: local.Lifecycle{Scratch: s.Scratch}}
	if err := isolate(s, &o, nil, nil); err != nil {
		return kind.Finding{Subject: "isolation", State: "missing", Detail: err.Error()}
	}
	level, reason := local.New(s.Store, o).Isolation()
	switch {
	case reason != nil && o.Isolation != "":
		return kind.Finding{Subject: "isolation", State: "missing", Detail: reason.Error()}
	case reason != nil:
		return kind.Finding{Subject: "isolation", State: "warning", Detail: fmt.Sprintf("%s on this machine: %v", level, reason)}
	}
	found := kind.Finding{Subject: "isolation", State: "ok", Detail: string(level) + " for local backends that do not set isolation"}
	if level != isolation.None && !isolation.Scoped() {
		found.State = "warning"
		found.Detail += "; commands can reach abstract Unix sockets of the machine (hint: Landlock of Linux 6.12 prevents that)"
	}
	return found
}

func python(ctx context.Context, s *kind.Site) kind.Finding {
	path, _ := s.LookupEnv("PATH")
	home, _ := s.LookupEnv("HOME")
	b := local.New(s.Store, local.Options{Probes: local.Probes{Path: path, Env: []string{"PATH=" + path, "HOME=" + home}}, Lifecycle: local.Lifecycle{Scratch: s.Scratch}})
	interpreter, version, err := b.Interpreter(ctx)
	if err != nil {
		return kind.Finding{Subject: "python", State: "missing", Detail: err.Error()}
	}
	return kind.Finding{Subject: "python", State: "ok", Detail: version + " at " + interpreter}
}
