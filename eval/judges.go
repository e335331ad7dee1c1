package eval

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
	keys    []judgeKey
	servers []*gojudge.Server
}

// sandbox makes the sandbox of a gojudge block. Nothing is started or talked to
// before something runs in it.
func sandbox(s *Site, b *lang.Backend) (backend.Sandbox, error) {
	server := s.judges.server(judgeKeyOf(b.GoJudge), func() *gojudge.Server { return s.judge(b.GoJudge) })
	return gojudge.New(server, gojudge.Options{
		Versions: b.GoJudge.Versions, Facts: filepath.Join(s.State, "sandboxes"), FactsReadOnly: s.ReadOnly,
	}), nil
}

// judgeKey is equal for blocks that can share a server.
type judgeKey struct {
	endpoint, token, binary string
	parallelism             int
}

func judgeKeyOf(j *lang.GoJudgeBackend) judgeKey {
	return judgeKey{j.Endpoint, j.Token, j.Binary, j.Parallelism}
}

func (s *Site) judge(j *lang.GoJudgeBackend) *gojudge.Server {
	if j.Endpoint != "" {
		return gojudge.Connect(s.Store, j.Endpoint, j.Token)
	}
	path, _ := s.LookupEnv("PATH")
	return gojudge.Start(s.Store, gojudge.Process{
		Binary: j.Binary, Path: path, Parallelism: j.Parallelism, Scratch: scratchDir(), Registry: s.Registry,
	})
}

// server returns the one of that key, made when there is none.
func (j *judges) server(key judgeKey, made func() *gojudge.Server) *gojudge.Server {
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
func checkJudges(ctx context.Context, o *Options, cfg *lang.Config, _ bool) []Finding {
	if cfg == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	var found []Finding
	var asked judges
	site := &Site{Store: cache.NewMemory(), LookupEnv: o.lookupEnv}
	for _, b := range cfg.Backends {
		if b.GoJudge == nil || slices.Contains(asked.keys, judgeKeyOf(b.GoJudge)) {
			continue
		}
		server := asked.server(judgeKeyOf(b.GoJudge), func() *gojudge.Server { return site.judge(b.GoJudge) })
		found = append(found, checkJudge(ctx, b, server))
	}
	if err := asked.Close(); err != nil {
		found = append(found, Finding{gojudge.Kind, "warning", err.Error()})
	}
	return found
}

func checkJudge(ctx context.Context, b *lang.Backend, server *gojudge.Server) Finding {
	version, err := server.Version(ctx)
	if err != nil {
		return Finding{gojudge.Kind, "missing", err.Error()}
	}
	if b.GoJudge.Endpoint != "" {
		return Finding{gojudge.Kind, "ok", fmt.Sprintf("go-judge %s at %s", version, b.GoJudge.Endpoint)}
	}
	return Finding{gojudge.Kind, "ok", fmt.Sprintf("go-judge %s, started and ended", version)}
}
