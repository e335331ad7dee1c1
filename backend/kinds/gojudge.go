package kinds

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
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
		Name: gojudge.Kind, Block: goJudgeBlock(), New: openGoJudge, Asks: askGoJudge, Check: checkServer,
		Server: func(b *lang.Backend) any { return keyOf(b) },
		Reap:   func(func(string) (string, bool)) func(context.Context, backend.Entry) error { return gojudge.Reap },
	}
}

// openGoJudge makes the sandbox of a block. It starts and contacts no server before the first use.
func openGoJudge(s *kind.Site, b *lang.Backend, _ []string) (plan.Executor, error) {
	server, err := serverOf(s, b)
	if err != nil {
		return plan.Executor{}, err
	}
	return plan.Executor{Sandbox: gojudge.New(server, gojudge.Options{
		Versions: lang.AttributesOf[goJudge](b).Versions, Facts: filepath.Join(s.State, "sandboxes"), Place: s.Place, FactsReadOnly: s.ReadOnly,
	})}, nil
}

// askGoJudge returns the server or the program that the block names, and its commands.
func askGoJudge(b *lang.Backend) []string {
	j := lang.AttributesOf[goJudge](b)
	var all []string
	switch {
	case j.Endpoint != "":
		all = append(all, "talk to "+j.Endpoint)
	case j.Binary != goJudgeBinary:
		all = append(all, "start "+j.Binary)
	}
	for _, command := range j.Versions {
		if !slices.Contains(backend.SandboxVersions, command) {
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
	j := lang.AttributesOf[goJudge](b)
	return serverKey{j.Endpoint, b.Token, j.Binary, j.Parallelism}
}

// serverOf returns the server of a block, which other blocks can share.
func serverOf(s *kind.Site, b *lang.Backend) (*gojudge.Server, error) {
	j := lang.AttributesOf[goJudge](b)
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

// patience limits how long the doctor waits for a server.
const patience = 10 * time.Second

// checkServer queries the server of a block, and starts one if a run would.
func checkServer(ctx context.Context, s *kind.Site, b *lang.Backend) kind.Finding {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	server, err := serverOf(s, b)
	version := ""
	if err == nil {
		version, err = server.Version(ctx)
	}
	switch {
	case err != nil:
		return kind.Finding{Subject: gojudge.Kind, State: "missing", Detail: err.Error()}
	case keyOf(b).endpoint != "":
		return kind.Finding{Subject: gojudge.Kind, State: "ok", Detail: fmt.Sprintf("go-judge %s at %s", version, keyOf(b).endpoint)}
	}
	return kind.Finding{Subject: gojudge.Kind, State: "ok", Detail: fmt.Sprintf("go-judge %s, started and ended", version)}
}

// goJudge are the attributes of a block.
type goJudge struct {
	Endpoint    string   `hcl:"endpoint" keys:"-"`    // "http://127.0.0.1:5050"; "" means that the run starts a server
	Binary      string   `hcl:"binary"`               // of the server to start: a name or an absolute path
	Parallelism int      `hcl:"parallelism" keys:"-"` // of the server to start; 0 means the server's default
	Versions    []string `hcl:"versions"`             // shell commands whose output in the sandbox is part of the identity
}

// goJudgeBinary is the program of a block that does not name one.
const goJudgeBinary = "go-judge"

// goJudgeBlock returns the blocks of backend "gojudge". Programs see only the environment that their problem specifies.
func goJudgeBlock() lang.BackendKind {
	return lang.BackendKind{Attributes: goJudge{}, Check: checkGoJudgeBlock, NoCommands: "A gojudge backend runs single programs in an empty sandbox", Schema: lang.BlockSchema{
		Name: gojudge.Kind,
		Doc:  "Sandboxes of a go-judge server, for problems with a judge block.",
		Attributes: []lang.AttributeSchema{
			{Name: "endpoint", Type: lang.TypeText, Form: lang.FormEndpoint, Doc: "Address of a running go-judge, such as \"http://127.0.0.1:5050\". The default is to start one for the run."},
			{Name: "token", Type: lang.TypeText, Secrets: true, Form: lang.FormToken, Doc: "The server's -auth-token."},
			{Name: "binary", Type: lang.TypeText, Default: strconv.Quote(goJudgeBinary), Doc: "Program to start without endpoint: a name in PATH, or an absolute path."},
			{Name: "parallelism", Type: lang.TypeInteger, Doc: "Parallel requests of the started server. The default is one for each processor."},
			{Name: "versions", Type: lang.TypeOneOrTexts, Default: lang.DefaultTexts(backend.SandboxVersions), Doc: "Shell commands, run in the sandbox, whose output enters keys."},
		},
	}}
}

// checkGoJudgeBlock rejects attributes of a server to start in a block that names a running server.
func checkGoJudgeBlock(b *lang.Block, _ *lang.Backend, a any) {
	for _, name := range []string{"binary", "parallelism"} {
		if j := a.(*goJudge); j.Endpoint != "" && b.Has(name) {
			b.Reject(name, "bad-value", "Attribute does not apply", fmt.Sprintf("%s applies only to a go-judge that the run starts; this one runs at %s.", name, j.Endpoint), "remove one of the two")
		}
	}
}
