package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/gojudge"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/lang"
)

// judges are the go-judge servers of a project, which backends share.
type judges struct {
	keys    []string
	servers []*gojudge.Server
}

// sandbox makes the sandbox of a gojudge block. Nothing is started or talked to
// before something runs in it.
func (p *project) sandbox(b *lang.Backend) (backend.Sandbox, error) {
	if b.GoJudge == nil {
		return nil, fmt.Errorf("a backend of the kind %q has no sandboxes; problems with a judge block need one of the kind %q", b.Kind, gojudge.Kind)
	}
	server := p.judges.server(judgeKey(b.GoJudge), func() *gojudge.Server { return p.app.judge(p.store, b.GoJudge, p.registry) })
	return gojudge.New(server, gojudge.Options{
		Versions: b.GoJudge.Versions, Facts: filepath.Join(p.state, "sandboxes"), FactsReadOnly: p.reads,
	}), nil
}

// judgeKey is equal for blocks that can share a server.
func judgeKey(j *lang.GoJudgeBackend) string {
	return fmt.Sprintf("%q %q %q %d", j.Endpoint, j.Token, j.Binary, j.Parallelism)
}

func (a *app) judge(store cache.Store, j *lang.GoJudgeBackend, registry *backend.Registry) *gojudge.Server {
	if j.Endpoint != "" {
		return gojudge.Connect(store, j.Endpoint, j.Token)
	}
	path, _ := a.io.LookupEnv("PATH")
	return gojudge.Start(store, gojudge.Process{
		Binary: j.Binary, Path: path, Parallelism: j.Parallelism, Scratch: scratchDir(), Registry: registry,
	})
}

// server returns the one of that key, made when there is none.
func (j *judges) server(key string, made func() *gojudge.Server) *gojudge.Server {
	at := slices.Index(j.keys, key)
	if at < 0 {
		at = len(j.keys)
		j.keys, j.servers = append(j.keys, key), append(j.servers, made())
	}
	return j.servers[at]
}

// Close ends those that were started.
func (j *judges) Close() error {
	var first error
	for _, s := range j.servers {
		if err := s.Close(); first == nil {
			first = err
		}
	}
	return first
}

// checkJudges asks the servers of the configuration, and starts those that a run
// would.
func (a *app) checkJudges(ctx context.Context, cfg *lang.Config) []finding {
	if cfg == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	var found []finding
	var asked judges
	for _, b := range cfg.Backends {
		if b.GoJudge == nil || slices.Contains(asked.keys, judgeKey(b.GoJudge)) {
			continue
		}
		server := asked.server(judgeKey(b.GoJudge), func() *gojudge.Server { return a.judge(cache.NewMemory(), b.GoJudge, nil) })
		found = append(found, checkJudge(ctx, b, server))
	}
	if err := asked.Close(); err != nil {
		found = append(found, finding{gojudge.Kind, "warning", err.Error()})
	}
	return found
}

func checkJudge(ctx context.Context, b *lang.Backend, server *gojudge.Server) finding {
	version, err := server.Version(ctx)
	if err != nil {
		return finding{gojudge.Kind, "missing", err.Error()}
	}
	if b.GoJudge.Endpoint != "" {
		return finding{gojudge.Kind, "ok", fmt.Sprintf("go-judge %s at %s", version, b.GoJudge.Endpoint)}
	}
	return finding{gojudge.Kind, "ok", fmt.Sprintf("go-judge %s, started and ended", version)}
}
