package kinds

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/gojudge"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// goJudgeKind returns the kind "gojudge".
func goJudgeKind() kind.Kind {
	return kind.Kind{
		Name: gojudge.Kind, New: openGoJudge, Asks: askGoJudge, Doctor: checkGoJudge,
		Reap: func(func(string) (string, bool)) func(context.Context, backend.Entry) error { return gojudge.Reap },
	}
}

// openGoJudge makes the sandbox of a block. Nothing is started or talked to before something
// runs in it.
func openGoJudge(s *kind.Site, b *lang.Backend, _ []string) (plan.Executor, error) {
	server, err := serverOf(s, b)
	if err != nil {
		return plan.Executor{}, err
	}
	return plan.Executor{Sandbox: gojudge.New(server, gojudge.Options{
		Versions: b.GoJudge.Versions, Facts: filepath.Join(s.State, "sandboxes"), Place: s.Place, FactsReadOnly: s.ReadOnly,
	})}, nil
}

// askGoJudge returns the server or the program that the block names, and its commands.
func askGoJudge(b *lang.Backend) []string {
	j := b.GoJudge
	var all []string
	switch {
	case j.Endpoint != "":
		all = append(all, "talk to "+j.Endpoint)
	case j.Binary != lang.GoJudgeBinary:
		all = append(all, "start "+j.Binary)
	}
	for _, command := range j.Versions {
		if !slices.Contains(lang.GoJudgeVersions, command) {
			all = append(all, "run in its sandbox "+command)
		}
	}
	return all
}

// serverKey is equal for blocks that can share a server.
type serverKey struct {
	endpoint, token, binary string
	parallelism             int
}

func keyOf(b *lang.Backend) serverKey {
	return serverKey{b.GoJudge.Endpoint, b.Token, b.GoJudge.Binary, b.GoJudge.Parallelism}
}

// serverOf returns the server of a block, which other blocks may share.
func serverOf(s *kind.Site, b *lang.Backend) (*gojudge.Server, error) {
	j := b.GoJudge
	return kind.Shared(s, keyOf(b), func() (*gojudge.Server, error) {
		server := gojudge.Connect(s.Store, j.Endpoint, b.Token)
		if j.Endpoint == "" {
			path, _ := s.LookupEnv("PATH")
			server = gojudge.Start(s.Store, gojudge.Process{
				Binary: j.Binary, Path: path, Parallelism: j.Parallelism, Scratch: s.Scratch, Registry: s.Registry,
			})
		}
		s.OnClose(server.Close)
		return server, nil
	})
}

// patience bounds what the doctor waits for servers.
const patience = 10 * time.Second

// checkGoJudge queries the servers of the configuration, and starts the servers that a run would start.
func checkGoJudge(ctx context.Context, s *kind.Site, cfg *lang.Config, _ bool) []kind.Finding {
	if cfg == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var found []kind.Finding
	asked := map[serverKey]bool{}
	for _, b := range cfg.Backends {
		if b.GoJudge != nil && !asked[keyOf(b)] {
			asked[keyOf(b)] = true
			found = append(found, checkServer(ctx, s, b))
		}
	}
	return found
}

func checkServer(ctx context.Context, s *kind.Site, b *lang.Backend) kind.Finding {
	if s.Trusts != nil && !s.Trusts(askGoJudge(b)) {
		return kind.Finding{Subject: gojudge.Kind, State: "warning", Detail: "backend " + b.Addr() + " was not asked: the project is not trusted; run `fevalgraph trust`"}
	}
	server, err := serverOf(s, b)
	version := ""
	if err == nil {
		version, err = server.Version(ctx)
	}
	switch {
	case err != nil:
		return kind.Finding{Subject: gojudge.Kind, State: "missing", Detail: err.Error()}
	case b.GoJudge.Endpoint != "":
		return kind.Finding{Subject: gojudge.Kind, State: "ok", Detail: fmt.Sprintf("go-judge %s at %s", version, b.GoJudge.Endpoint)}
	}
	return kind.Finding{Subject: gojudge.Kind, State: "ok", Detail: fmt.Sprintf("go-judge %s, started and ended", version)}
}
