package remote_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/remote"
	"github.com/fevalgraph/fevalgraph/cache/remote/remotetest"
)

// envelope holds the fields that attackers change.
type envelope struct {
	PayloadType string              `json:"payloadType"`
	Payload     string              `json:"payload"`
	Signatures  []map[string]string `json:"signatures"`
}

func opened(t *testing.T, e *execution.ActionResult) (v envelope) {
	t.Helper()
	var text wrapperspb.BytesValue
	if err := e.ExecutionMetadata.AuxiliaryMetadata[0].UnmarshalTo(&text); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text.Value, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func sealed(e *execution.ActionResult, v any) *execution.ActionResult {
	text, _ := json.Marshal(v)
	e = proto.Clone(e).(*execution.ActionResult)
	e.ExecutionMetadata.AuxiliaryMetadata[0], _ = anypb.New(wrapperspb.Bytes(text))
	return e
}

// poison is an entry that replaces the victim's.
type poison func(t *testing.T, w *world) *execution.ActionResult

// world contains the data of an attacker who can write everything to the server: the existing entry, entries of other
// queries and namespaces that the same key signed, and one for the same query of an untrusted key.
type world struct{ victim, other, elsewhere, foreign *execution.ActionResult }

// payload changes the signed text.
func payload(change func(string) string) poison {
	return func(t *testing.T, w *world) *execution.ActionResult {
		v := opened(t, w.victim)
		body, err := base64.StdEncoding.DecodeString(v.Payload)
		if err != nil {
			t.Fatal(err)
		}
		v.Payload = base64.StdEncoding.EncodeToString([]byte(change(string(body))))
		return sealed(w.victim, v)
	}
}

// replaced changes one thing in the signed text, which must be in it.
func replaced(old, by string) poison {
	return func(t *testing.T, w *world) *execution.ActionResult {
		return payload(func(s string) string {
			if !strings.Contains(s, old) {
				t.Fatalf("%q is not in %q", old, s)
			}
			return strings.ReplaceAll(s, old, by)
		})(t, w)
	}
}

func signatures(change func(envelope) envelope) poison {
	return func(t *testing.T, w *world) *execution.ActionResult {
		return sealed(w.victim, change(opened(t, w.victim)))
	}
}

func attempts() map[string]poison {
	all := map[string]poison{
		"another question's":  func(_ *testing.T, w *world) *execution.ActionResult { return w.other },
		"another namespace's": func(_ *testing.T, w *world) *execution.ActionResult { return w.elsewhere },
		"a foreign key's":     func(_ *testing.T, w *world) *execution.ActionResult { return w.foreign },
		"class":               replaced(`"class":"failed"`, `"class":"done"`),
		"message":             replaced(`"message":"no"`, `"message":"yes"`),
		"key":                 replaced(hashManifest("victim").String(), hashManifest("other").String()),
		"namespace":           replaced(`"namespace":"main"`, `"namespace":"pr-184"`),
		"signer":              replaced(`"signer":"main"`, `"signer":"mian"`),
		"attempts":            replaced(`"attempts":1`, `"attempts":2`),
		"seconds":             replaced(`"seconds":0.5`, `"seconds":5e9`),
		"run":                 replaced(`"run":"r"`, `"run":"s"`),
		"output name":         replaced(`"name":"blob"`, `"name":"blub"`),
		"output digest":       replaced(cache.SumBytes(random(100)).String(), cache.SumBytes([]byte("forged")).String()),
		"no tree":             replaced(`,"tree":true`, ``),
		"manifest":            payload(func(s string) string { return s + "more" }),
		"no manifest":         payload(func(s string) string { line, _, _ := strings.Cut(s, "\n"); return line }),
		"two lines":           payload(func(s string) string { return "\n" + s }),
		"two statements":      payload(func(s string) string { return `{"record":{"class":"done"}}` + s }),
		"empty payload":       payload(func(string) string { return "" }),
		"null":                payload(func(string) string { return "null\n" }),
		"no signature":        signatures(func(v envelope) envelope { v.Signatures = nil; return v }),
		"empty signature":     signatures(func(v envelope) envelope { v.Signatures[0]["sig"] = ""; return v }),
		"zero signature": signatures(func(v envelope) envelope {
			v.Signatures[0]["sig"] = base64.StdEncoding.EncodeToString(make([]byte, 64))
			return v
		}),
		"other type": signatures(func(v envelope) envelope { v.PayloadType = "application/json"; return v }),
		"no type":    signatures(func(v envelope) envelope { v.PayloadType = ""; return v }),
		"moved boundary": signatures(func(v envelope) envelope { // of the type and the payload
			body, _ := base64.StdEncoding.DecodeString(v.Payload)
			v.PayloadType += " " + string(body[:1])
			v.Payload = base64.StdEncoding.EncodeToString(body[1:])
			return v
		}),
		"no metadata": func(_ *testing.T, w *world) *execution.ActionResult {
			e := proto.Clone(w.victim).(*execution.ActionResult)
			e.ExecutionMetadata = nil
			return e
		},
		"empty entry": func(*testing.T, *world) *execution.ActionResult { return &execution.ActionResult{} },
		"no envelope": func(_ *testing.T, w *world) *execution.ActionResult { return sealed(w.victim, "text") },
		"signature in front": func(t *testing.T, w *world) *execution.ActionResult {
			e := proto.Clone(w.victim).(*execution.ActionResult)
			e.ExecutionMetadata.AuxiliaryMetadata = append([]*anypb.Any{w.foreign.ExecutionMetadata.AuxiliaryMetadata[0]}, e.ExecutionMetadata.AuxiliaryMetadata...)
			return e
		},
		"signature behind": func(t *testing.T, w *world) *execution.ActionResult {
			e := proto.Clone(w.foreign).(*execution.ActionResult)
			e.ExecutionMetadata.AuxiliaryMetadata = append(e.ExecutionMetadata.AuxiliaryMetadata, w.victim.ExecutionMetadata.AuxiliaryMetadata...)
			return e
		},
		"foreign content, trusted signature": func(t *testing.T, w *world) *execution.ActionResult {
			v := opened(t, w.foreign)
			v.Signatures = opened(t, w.victim).Signatures
			return sealed(w.victim, v)
		},
		"foreign content, both signatures": func(t *testing.T, w *world) *execution.ActionResult {
			v := opened(t, w.foreign)
			v.Signatures = append(v.Signatures, opened(t, w.victim).Signatures...)
			return sealed(w.victim, v)
		},
		"foreign signature, trusted key's name": func(t *testing.T, w *world) *execution.ActionResult {
			v := opened(t, w.foreign)
			v.Signatures[0]["keyid"] = opened(t, w.victim).Signatures[0]["keyid"]
			return sealed(w.victim, v)
		},
		"foreign signature, no key's name": func(t *testing.T, w *world) *execution.ActionResult {
			v := opened(t, w.foreign)
			delete(v.Signatures[0], "keyid")
			return sealed(w.victim, v)
		},
		"many signatures": signatures(func(v envelope) envelope {
			v.Payload = base64.StdEncoding.EncodeToString([]byte("{}\n"))
			v.Signatures = slices.Repeat(v.Signatures, 1000)
			return v
		}),
	}
	for bit := range 24 { // of the signature, all over
		all[fmt.Sprintf("bit %d of the signature", bit*21)] = signatures(func(v envelope) envelope {
			raw, _ := base64.StdEncoding.DecodeString(v.Signatures[0]["sig"])
			raw[bit*21/8] ^= 1 << (bit * 21 % 8)
			v.Signatures[0]["sig"] = base64.StdEncoding.EncodeToString(raw)
			return v
		})
	}
	return all
}

// TestPoisoned: an attacker with write access to the server but an untrusted key can only serve data that the trusted
// key signed for the query.
func TestPoisoned(t *testing.T) {
	s := remotetest.Start(t)
	main, pr := key(t, "main"), key(t, "pr-184")
	w := &world{}
	write := func(k remote.PrivateKey, namespace, manifest string) (id string, e *execution.ActionResult) {
		before := map[string]bool{}
		s.EachEntry(func(id string, e *execution.ActionResult) *execution.ActionResult { before[id] = true; return e })
		m := newMachine(t, s, "grpc", "", remote.Options{Limit: patient, Signer: &k, Namespace: namespace})
		storeAs(t, m, manifest, random(100), cache.Record{Class: cache.ClassFailed, Message: "no"})
		m.remote.Flush(context.Background())
		s.EachEntry(func(found string, of *execution.ActionResult) *execution.ActionResult {
			if !before[found] {
				id, e = found, of
			}
			return of
		})
		if e == nil {
			t.Fatalf("%s was not written: %v", manifest, m.warned())
		}
		return id, e
	}
	id, victim := write(main, "main", "victim")
	w.victim = victim
	_, w.other = write(main, "main", "other")
	_, w.elsewhere = write(main, "pr-184", "victim")
	s.EachEntry(func(_ string, e *execution.ActionResult) *execution.ActionResult { return nil })
	_, w.foreign = write(pr, "main", "victim")

	poisons := attempts()
	if len(poisons) < 60 {
		t.Fatalf("there are only %d attempts", len(poisons))
	}
	for name, p := range poisons {
		t.Run(name, func(t *testing.T) {
			s.SetEntry(id, p(t, w))
			reader := newMachine(t, s, "grpc", "", remote.Options{Limit: patient, Trust: []remote.PublicKey{main.PublicKey}})
			if r, _ := served(t, reader, "victim"); r != nil {
				t.Errorf("it was served: %+v", r)
			}
		})
	}
	s.SetEntry(id, w.victim)
	reader := newMachine(t, s, "grpc", "", remote.Options{Limit: patient, Trust: []remote.PublicKey{main.PublicKey}})
	if r, err := served(t, reader, "victim"); r == nil || err != nil {
		t.Errorf("what was not changed is not served: %v", err)
	}
}
