package remote

import (
	"testing"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/proto"

	"github.com/fevalgraph/fevalgraph/cache"
)

// For any response of a server, a store returns only data that the trusted key signed for the query: here, exactly the
// written bytes.
func FuzzEntry(f *testing.F) {
	k, err := GenerateKey("ci")
	if err != nil {
		f.Fatal(err)
	}
	trusted, err := dsse.NewEnvelopeVerifier(k.PublicKey)
	if err != nil {
		f.Fatal(err)
	}
	key := cache.Key{1}
	blob := cache.SumBytes([]byte("output"))
	want := &cache.Record{Class: cache.ClassFailed, Message: "no", Manifest: []byte("manifest"), Outputs: []cache.Output{{Name: "a", Digest: blob}}}
	for _, signer := range []*PrivateKey{&k, nil} {
		e, err := encodeEntry(signer, "main", key, want, []cache.Digest{blob})
		if err != nil {
			f.Fatal(err)
		}
		content, err := proto.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
		f.Add(content[:len(content)/2])
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		e := new(execution.ActionResult)
		if proto.Unmarshal(content, e) != nil {
			return
		}
		r, _, err := decodeEntry(trusted, "main", key, e)
		if err != nil {
			return
		}
		if r.Class != want.Class || r.Message != want.Message || string(r.Manifest) != string(want.Manifest) || len(r.Outputs) != 1 || r.Outputs[0] != want.Outputs[0] {
			t.Errorf("served: %+v", r)
		}
	})
}
