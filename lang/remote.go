package lang

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// RemoteBackend is the rest of backend "remote".
type RemoteBackend struct {
	Endpoint        string        `hcl:"endpoint"` // "grpcs://farm.example.com:443/instance"
	State           string        `hcl:"state"`    // host:port of a Buildbarn scheduler's BuildQueueState; "" by default
	Platform        []Setting     `hcl:"platform"`
	Headers         []Header      // of every call
	CA              string        `hcl:"ca"` // files; "" means the system's authorities, and no certificate
	Certificate     string        `hcl:"certificate"`
	Key             string        `hcl:"key"`
	MaxTimeout      time.Duration `hcl:"max_timeout"` // of an action, as the engine allows it
	Patience        time.Duration `hcl:"patience"`    // for servers and workers that are away
	MaxState        int64         `hcl:"max_state"`   // bytes that a command leaves to the next
	Scratch         string        `hcl:"scratch"`     // directory of the workers' machines
	Path            string        `hcl:"path"`        // PATH there
	Versions        []string      `hcl:"versions"`
	Isolation       string        `hcl:"isolation"`
	GoJudge         string        `hcl:"go_judge"` // absolute path on this machine; "" if unset
	GoJudgeVersions []string      `hcl:"go_judge_versions"`
	Program         string        `hcl:"program"` // fevalgraph for the workers; "" means the running program
}

// Setting is a named text.
type Setting struct{ Name, Value string }

// Header is a Setting that can be a secret: it enters no key and no output.
type Header Setting

// HasHeaders reports whether a server gets headers of the block's own.
func (b *Backend) HasHeaders() bool { return b.Remote != nil && len(b.Remote.Headers) > 0 }

// workerPath is the default PATH of workers.
const workerPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func remoteKind() backendKind {
	return backendKind{schema: engineSchema(), decode: func(b *block, made *Backend) {
		made.Remote = b.remote()
		made.Judges = made.Remote.GoJudge != ""
		if (made.Token != "" || len(made.Remote.Headers) > 0) && strings.HasPrefix(made.Remote.Endpoint, "grpc:") && !loopback(made.Remote.Endpoint) {
			b.reject("endpoint", "bad-value", "Rights in the clear", "A token and headers are not sent to another machine in the clear.", "write grpcs://")
		}
	}}
}

func (b *block) remote() *RemoteBackend {
	r := &RemoteBackend{}
	b.fill(r)
	for _, h := range b.settings("headers") {
		if h.Name = strings.ToLower(h.Name); !headerName().MatchString(h.Name) {
			b.reject("headers", "bad-name", "Bad name", fmt.Sprintf("%q is not the name of a header.", h.Name), "letters, digits and -")
		}
		r.Headers = append(r.Headers, Header(h))
	}
	if (r.Certificate == "") != (r.Key == "") {
		b.reject("certificate", "bad-value", "Half a certificate", "A certificate of this client takes its key, and a key its certificate.", "set both of certificate and key, or none")
	}
	return r
}

// hostPort checks addresses without a scheme.
func hostPort(b *block, name, text string) (string, bool) {
	_, _, err := net.SplitHostPort(text)
	if err != nil {
		b.reject(name, "bad-value", "Bad address", fmt.Sprintf("%q is no address: %v.", text, err), `write such as "scheduler.example.com:8984"`)
	}
	return text, err == nil
}

func loopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	return IsLoopback(u.Hostname())
}

// IsLoopback reports whether a host, by its name or address, is this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

var headerName = lazyregexp.New(`^[a-z0-9][a-z0-9-]*$`)

// stringMap reads a map of strings. It returns false if the map is absent or invalid.
func (b *block) stringMap(name string) (texts cty.Value, ok bool) {
	v, g := b.value(b.schemaOf(name, TypeMap))
	if g != isSet {
		return cty.NilVal, false
	}
	texts, err := convert.Convert(v, cty.Map(cty.String))
	if err != nil {
		b.wrongType(name, "a map of strings", v.Type())
	}
	return texts, err == nil
}

// settings reads a map of texts, sorted by name.
func (b *block) settings(name string) (all []Setting) {
	texts, ok := b.stringMap(name)
	if !ok {
		return nil
	}
	for it := texts.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if value.IsNull() || strings.ContainsAny(value.AsString(), "\x00\r\n") {
			b.reject(name, "bad-value", "Bad value", fmt.Sprintf("%s[%q] is no text in one line.", name, key.AsString()), "")
			return nil
		}
		all = append(all, Setting{key.AsString(), value.AsString()})
	}
	return all
}

func engineSchema() BlockSchema {
	judge := goJudgeSchema()
	return BlockSchema{
		Name: "remote",
		Doc:  "Workers of an engine for remote execution, such as Buildbarn, BuildBuddy, NativeLink or Buildfarm.",
		Attributes: append(inheritance("[]", "[]"),
			AttributeSchema{Name: "endpoint", Type: TypeText, form: address("Bad endpoint", "an engine", `write such as "grpcs://farm.example.com:443", with the name of the instance behind a slash if it has one`, "grpc", "grpcs"), Required: true, Doc: "Address of the engine: grpcs://HOST:PORT[/INSTANCE], or grpc:// unencrypted."},
			AttributeSchema{Name: "platform", Type: TypeMap, Doc: "Properties that the engine chooses workers by. They enter keys."},
			AttributeSchema{Name: "token", Type: TypeText, secrets: true, form: token, Doc: "A token, or user:password."},
			AttributeSchema{Name: "headers", Type: TypeMap, secrets: true, Doc: "Headers of every call, such as an API key. They enter no key and no output."},
			AttributeSchema{Name: "ca", Type: TypeText, Path: true, Doc: "File with certificate authorities for the engine. The default is the system's."},
			AttributeSchema{Name: "certificate", Type: TypeText, Path: true, Doc: "File of this client's certificate."},
			AttributeSchema{Name: "key", Type: TypeText, Path: true, Doc: "File of the certificate's key."},
			AttributeSchema{Name: "state", Type: TypeText, form: hostPort, Doc: "HOST:PORT of the BuildQueueState service of Buildbarn's scheduler, which ends cancelled actions at once."},
			AttributeSchema{Name: "max_timeout", Type: TypeDuration, Default: `"1h"`, Doc: "Longest timeout that the engine accepts. A command that runs longer is broken."},
			AttributeSchema{Name: "patience", Type: TypeDuration, Default: `"2m"`, Doc: "How long a server can be away, have no workers or accept no action before work is broken."},
			AttributeSchema{Name: "max_state", Type: TypeSize, Default: `"2GiB"`, Doc: "Maximum state that a command can leave to the next one. Larger files are dropped."},
			AttributeSchema{Name: "scratch", Type: TypeText, form: inContainer, Default: `"/tmp"`, Doc: "Directory of the workers' machines for workspaces."},
			AttributeSchema{Name: "path", Type: TypeText, Default: strconv.Quote(workerPath), Doc: "PATH on the workers' machines."},
			AttributeSchema{Name: "python", Type: TypeText, Default: `""`, Doc: "Interpreter that uv selects on the workers, such as \"3.12\"."},
			AttributeSchema{Name: "versions", Type: TypeOneOrTexts, Default: "[]", Doc: "Commands, run on a worker, whose output enters keys."},
			AttributeSchema{Name: "isolation", Type: TypeText, form: isolation, Default: `""`, Doc: "Isolation, as on a local backend. The default is the most that the workers allow."},
			AttributeSchema{Name: "go_judge", Type: TypeText, Path: true, Doc: "Path of go-judge for the workers' system, for judge problems. Without it judge problems are not evaluated here."},
			AttributeSchema{Name: "go_judge_versions", Type: TypeOneOrTexts, Default: judge.Attribute("versions").Default, Doc: "Shell commands, run in go-judge's sandbox, whose output enters keys."},
			AttributeSchema{Name: "program", Type: TypeText, Path: true, Doc: "Path of a fevalgraph of the same version for the workers' system. The default is `fevalgraph-worker` next to this program, or this program if it is for Linux."},
		),
	}
}
