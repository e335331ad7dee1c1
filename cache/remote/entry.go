package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/fevalgraph/fevalgraph/cache"
)

// An entry of an action cache is an ActionResult. Its output files are the blobs of the record's outputs,
// so that a server that checks the completeness of results checks them, and does not evict blobs that
// results need. The signed content is in its auxiliary metadata, a google.protobuf.BytesValue: a DSSE
// envelope in JSON. Its payload is a line of JSON, statement, and the record's manifest.

// payloadType marks envelopes of records, so that signatures of other content are invalid for records.
const payloadType = "application/vnd.fevalgraph.record.v1"

// statement is the signed content, besides the manifest.
type statement struct {
	Key       cache.Key     `json:"key"`
	Namespace string        `json:"namespace"`
	Signer    string        `json:"signer"`
	Record    *cache.Record `json:"record"`
}

// Bounds on entries. Servers take messages of 4 MiB.
const (
	maxManifest = 512 << 10 // a longer one is omitted, so that explain has fewer details
	maxFiles    = 2_000     // blobs that an entry names
	maxEnvelope = 3 << 20
)

// entryID returns the ID of a key's record in a namespace.
func entryID(namespace string, k cache.Key) cache.Key {
	return sha256.Sum256(fmt.Appendf(nil, "fevalgraph record 1\x00%s\x00%s", namespace, k))
}

// encodeEntry returns the entry for a record whose blobs are given; signer can be nil.
func encodeEntry(signer *PrivateKey, namespace string, k cache.Key, r *cache.Record, blobs []cache.Digest) (*execution.ActionResult, error) {
	s := statement{Key: k, Namespace: namespace, Record: r}
	if signer != nil {
		s.Signer = signer.describe()
	}
	body, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if body = append(body, '\n'); len(r.Manifest) <= maxManifest {
		body = append(body, r.Manifest...)
	}
	envelope := &dsse.Envelope{PayloadType: payloadType, Payload: base64.StdEncoding.EncodeToString(body), Signatures: []dsse.Signature{}}
	if signer != nil {
		by, err := dsse.NewEnvelopeSigner(*signer)
		if err == nil {
			envelope, err = by.SignPayload(context.Background(), payloadType, body)
		}
		if err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(envelope)
	if err != nil {
		return nil, err
	}
	if len(text) > maxEnvelope {
		return nil, fmt.Errorf("the record has %d bytes, more than servers accept", len(text))
	}
	signed, err := anypb.New(wrapperspb.Bytes(text))
	if err != nil {
		return nil, err
	}
	e := &execution.ActionResult{ExecutionMetadata: &execution.ExecutedActionMetadata{AuxiliaryMetadata: []*anypb.Any{signed}}}
	for i, d := range blobs[:min(len(blobs), maxFiles)] {
		e.OutputFiles = append(e.OutputFiles, &execution.OutputFile{Path: fmt.Sprint(i), Digest: &execution.Digest{Hash: d.Hex(), SizeBytes: d.Size}})
	}
	return e, nil
}

// decodeEntry reads the record of an entry, and the blobs that the entry names. An entry that no trusted key
// signed is a *cache.ForeignError.
func decodeEntry(trusted *dsse.EnvelopeVerifier, namespace string, k cache.Key, e *execution.ActionResult) (*cache.Record, []cache.Digest, error) {
	var text wrapperspb.BytesValue
	metadata := e.GetExecutionMetadata().GetAuxiliaryMetadata()
	if len(metadata) != 1 || metadata[0].UnmarshalTo(&text) != nil || len(text.Value) > maxEnvelope {
		return nil, nil, &cache.ForeignError{Key: k, By: "another program"}
	}
	var envelope dsse.Envelope
	body, err := []byte(nil), json.Unmarshal(text.Value, &envelope)
	if err == nil {
		body, err = envelope.DecodeB64Payload()
	}
	if err != nil || len(envelope.Signatures) > 4 {
		return nil, nil, &cache.ForeignError{Key: k, By: "another program"}
	}
	line, manifest, _ := bytes.Cut(body, []byte("\n"))
	var s statement
	err = json.Unmarshal(line, &s)
	if !isSigned(trusted, &envelope) {
		return nil, nil, &cache.ForeignError{Key: k, By: unproved(s.Signer)}
	}
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("malformed record: %w", err)
	case s.Key != k || s.Namespace != namespace || s.Record == nil || !s.Record.Class.Stored():
		return nil, nil, errors.New("the record is for another key or namespace")
	}
	if len(manifest) > 0 {
		s.Record.Manifest = manifest
	}
	var blobs []cache.Digest
	for _, f := range e.OutputFiles {
		d, err := cache.ParseDigest(fmt.Sprintf("%s/%d", f.GetDigest().GetHash(), f.GetDigest().GetSizeBytes()))
		if err != nil {
			return nil, nil, err
		}
		blobs = append(blobs, d)
	}
	for _, o := range s.Record.Outputs {
		blobs = append(blobs, o.Digest)
	}
	return s.Record, blobs, nil
}

func isSigned(trusted *dsse.EnvelopeVerifier, e *dsse.Envelope) bool {
	if trusted == nil || e.PayloadType != payloadType {
		return false
	}
	_, err := trusted.Verify(context.Background(), e)
	return err == nil
}

// unproved formats a name that nothing proves.
func unproved(name string) string {
	if name == "" {
		return "an unknown signer"
	}
	if !keyName().MatchString(name) {
		return "an unnamed signer"
	}
	return name
}
