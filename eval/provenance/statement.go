package provenance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// Types of in-toto in a bundle; see the specifications of Statement v1 and of the predicate "test result" v0.1.
const (
	payloadType   = "application/vnd.in-toto+json"
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://in-toto.io/attestation/test-result/v0.1"
)

// statement is the signed content.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"` // one: the entries
	PredicateType string     `json:"predicateType"`
	Predicate     predicate  `json:"predicate"`
}

type predicate struct {
	Result        string     `json:"result"` // PASSED, WARNED if a checkpoint was not judged, or FAILED
	Configuration []resource `json:"configuration"`
	Passed        []string   `json:"passedTests"`
	Warned        []string   `json:"warnedTests"` // not judged
	Failed        []string   `json:"failedTests"`
}

type resource struct {
	Name        string            `json:"name"`
	Digest      map[string]string `json:"digest,omitempty"`
	Annotations *annotations      `json:"annotations,omitempty"`
}

type annotations struct {
	Run      string   `json:"run,omitempty"`
	Nodes    int      `json:"nodes,omitempty"`
	Verdicts int      `json:"verdicts,omitempty"`
	Withheld []string `json:"withheld,omitempty"`
	Version  string   `json:"version,omitempty"`
}

// About identifies the source of a bundle.
type About struct {
	Run      string   // its id
	Version  string   // of fevalgraph
	Withheld []string // omitted content; see the variable Withheld
}

func newStatement(a About, e *Entries, digest string) *statement {
	s := &statement{
		Type: statementType, PredicateType: predicateType,
		Subject: []resource{{Name: "entries", Digest: map[string]string{"sha256": digest},
			Annotations: &annotations{Run: a.Run, Nodes: len(e.Nodes), Verdicts: len(e.Verdicts), Withheld: a.Withheld}}},
		Predicate: predicate{Result: "PASSED", Configuration: []resource{{Name: "fevalgraph", Annotations: &annotations{Version: a.Version}}},
			Passed: []string{}, Warned: []string{}, Failed: []string{}},
	}
	p := &s.Predicate
	for i := range e.Verdicts {
		v := &e.Verdicts[i]
		switch {
		case v.Verdict.Class.Status() == verdict.Broken || v.Verdict.Class == verdict.NotRun:
			p.Warned = append(p.Warned, v.Name())
		case v.Verdict.Passed || !v.Verdict.Ruled():
			p.Passed = append(p.Passed, v.Name())
		default:
			p.Failed = append(p.Failed, v.Name())
		}
	}
	if len(p.Warned) > 0 {
		p.Result = "WARNED"
	}
	if len(p.Failed) > 0 {
		p.Result = "FAILED"
	}
	return s
}

func (s *statement) sign(ctx context.Context, signer dsse.Signer) ([]byte, error) {
	body, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	by, err := dsse.NewEnvelopeSigner(signer)
	if err != nil {
		return nil, err
	}
	envelope, err := by.SignPayload(ctx, payloadType, body)
	if err != nil {
		return nil, fmt.Errorf("signing the bundle: %w", err)
	}
	return json.Marshal(envelope)
}

// openStatement parses a signed statement. signed reports whether one of the keys signed it.
func openStatement(ctx context.Context, text []byte, keys []dsse.Verifier) (s *statement, signed bool, err error) {
	var envelope dsse.Envelope
	if err := json.Unmarshal(text, &envelope); err != nil {
		return nil, false, fmt.Errorf("the statement is not a DSSE envelope: %w", err)
	}
	body, err := envelope.DecodeB64Payload()
	if err != nil {
		return nil, false, fmt.Errorf("the statement is not a DSSE envelope: %w", err)
	}
	if err := json.Unmarshal(body, &s); err != nil {
		return nil, false, fmt.Errorf("the statement is not an in-toto statement: %w", err)
	}
	switch {
	case envelope.PayloadType != payloadType, s == nil, s.Type != statementType, s.PredicateType != predicateType,
		len(s.Subject) != 1, s.Subject[0].Annotations == nil, len(s.Predicate.Configuration) != 1, s.Predicate.Configuration[0].Annotations == nil:
		return nil, false, errors.New("not a statement of fevalgraph")
	}
	if len(keys) > 0 {
		verifier, err := dsse.NewEnvelopeVerifier(keys...)
		if err != nil {
			return nil, false, err
		}
		_, err = verifier.Verify(ctx, &envelope)
		signed = err == nil
	}
	return s, signed, nil
}
