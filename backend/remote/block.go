package remote

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang"
)

// attributes holds the attributes of a block.
type attributes struct {
	Endpoint        string         `hcl:"endpoint" keys:"-"` // "grpcs://farm.example.com:443/instance"
	State           string         `hcl:"state" keys:"-"`    // host:port of a Buildbarn scheduler's BuildQueueState; "" by default
	Platform        []lang.Setting `hcl:"platform"`
	Headers         []lang.Setting `hcl:"headers" keys:"-"` // of every call, with names in small letters: they enter no key and no output
	CA              string         `hcl:"ca" keys:"-"`      // files; "" means the system's authorities, and no certificate
	Certificate     string         `hcl:"certificate" keys:"-"`
	Key             string         `hcl:"key" keys:"-"`
	MaxTimeout      time.Duration  `hcl:"max_timeout"`       // maximum timeout of an action on the engine
	Patience        time.Duration  `hcl:"patience" keys:"-"` // for unreachable servers and workers
	MaxState        int64          `hcl:"max_state"`         // bytes that a command leaves for the next
	Scratch         string         `hcl:"scratch"`           // directory of the workers' machines
	Path            string         `hcl:"path"`              // PATH there
	Versions        []string       `hcl:"versions"`
	Isolation       string         `hcl:"isolation"`
	GoJudge         string         `hcl:"go_judge"` // absolute path on this machine; "" if unset
	GoJudgeVersions []string       `hcl:"go_judge_versions"`
	Program         string         `hcl:"program" keys:"-"` // fevalgraph for the workers; "" means the running program
}

// workerPath is the default PATH of workers.
const workerPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// block returns the blocks of backend "remote".
func block() lang.BackendKind {
	return lang.BackendKind{Attributes: attributes{}, Check: complete, Schema: lang.BlockSchema{
		Name: Kind,
		Doc:  "Workers of an engine for remote execution, such as Buildbarn, BuildBuddy, NativeLink or Buildfarm.",
		Attributes: slices.Concat(lang.Inheritance("[]", "[]"), []lang.AttributeSchema{
			{Name: "endpoint", Type: lang.TypeText, Form: lang.FormAddress("Bad endpoint", "an engine", `write such as "grpcs://farm.example.com:443", with the name of the instance behind a slash if it has one`, "grpc", "grpcs"), Required: true, Doc: "Address of the engine: grpcs://HOST:PORT[/INSTANCE], or grpc:// unencrypted."},
			{Name: "platform", Type: lang.TypeMap, Doc: "Properties that the engine chooses workers by. They enter keys."},
			{Name: "token", Type: lang.TypeText, Secrets: true, Form: lang.FormToken, Doc: "A token, or user:password."},
			{Name: "headers", Type: lang.TypeMap, Secrets: true, Doc: "Headers of every call, such as an API key. They enter no key and no output."},
			{Name: "ca", Type: lang.TypeText, Path: true, Doc: "File with certificate authorities for the engine. The default is the system's."},
			{Name: "certificate", Type: lang.TypeText, Path: true, Doc: "File of this client's certificate."},
			{Name: "key", Type: lang.TypeText, Path: true, Doc: "File of the certificate's key."},
			{Name: "state", Type: lang.TypeText, Form: hostPort, Doc: "HOST:PORT of the BuildQueueState service of Buildbarn's scheduler, which ends cancelled actions at once."},
			{Name: "max_timeout", Type: lang.TypeDuration, Default: `"1h"`, Doc: "Longest timeout that the engine accepts. A command that runs longer is broken."},
			{Name: "patience", Type: lang.TypeDuration, Default: `"2m"`, Doc: "How long a server can be away, have no workers or accept no action before work is broken."},
			{Name: "max_state", Type: lang.TypeSize, Default: `"2GiB"`, Doc: "Maximum state that a command can leave to the next one. Larger files are dropped."},
			{Name: "scratch", Type: lang.TypeText, Form: lang.FormInContainer, Default: `"/tmp"`, Doc: "Directory of the workers' machines for workspaces."},
			{Name: "path", Type: lang.TypeText, Default: strconv.Quote(workerPath), Doc: "PATH on the workers' machines."},
			{Name: "python", Type: lang.TypeText, Default: `""`, Doc: "Interpreter that uv selects on the workers, such as \"3.12\"."},
			{Name: "versions", Type: lang.TypeOneOrTexts, Default: "[]", Doc: "Commands, run on a worker, whose output enters keys."},
			{Name: "isolation", Type: lang.TypeText, Form: lang.FormIsolation, Default: `""`, Doc: "Isolation, as on a local backend. The default is the most that the workers allow."},
			{Name: "go_judge", Type: lang.TypeText, Path: true, Doc: "Path of go-judge for the workers' system, for judge problems. Without it judge problems are not evaluated here."},
			{Name: "go_judge_versions", Type: lang.TypeOneOrTexts, Default: lang.DefaultTexts(backend.SandboxVersions), Doc: "Shell commands, run in go-judge's sandbox, whose output enters keys."},
			{Name: "program", Type: lang.TypeText, Path: true, Doc: "Path of a fevalgraph of the same version for the workers' system. The default is `fevalgraph-worker` next to this program, or this program if it is for Linux."},
		}),
	}}
}

// complete rejects invalid combinations that no single row can reject, and
// converts names of headers to lower case.
func complete(b *lang.Block, made *lang.Backend, a any) {
	r := a.(*attributes)
	made.Judges = r.GoJudge != ""
	for i := range r.Headers {
		h := &r.Headers[i]
		if h.Name = strings.ToLower(h.Name); !headerName().MatchString(h.Name) {
			b.Reject("headers", "bad-name", "Bad name", fmt.Sprintf("%q is not a valid name of a header.", h.Name), "letters, digits and -")
		}
	}
	if (r.Certificate == "") != (r.Key == "") {
		b.Reject("certificate", "bad-value", "Incomplete certificate", "A client certificate consists of certificate and key.", "set both, or neither")
	}
	u, err := url.Parse(r.Endpoint)
	if (made.Token != "" || len(r.Headers) > 0) && err == nil && u.Scheme == "grpc" && !lang.IsLoopback(u.Hostname()) {
		b.Reject("endpoint", "bad-value", "Unencrypted credentials", "The token and headers are not sent to another machine unencrypted.", "write grpcs://")
	}
}

var headerName = lazyregexp.New(`^[a-z0-9][a-z0-9-]*$`)

// hostPort checks addresses without a scheme.
func hostPort(b *lang.Block, name, text string) (string, bool) {
	_, _, err := net.SplitHostPort(text)
	if err != nil {
		b.Reject(name, "bad-value", "Bad address", fmt.Sprintf("%q is not an address: %v.", text, err), `write such as "scheduler.example.com:8984"`)
	}
	return text, err == nil
}
