package provenance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/pack"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Checked is the result of checking a bundle.
type Checked struct {
	About
	Entries  *Entries
	Digest   string // SHA-256 of the bundle's entries, in hexadecimal
	Signed   bool   // whether one of the keys signed it
	Proven   int    // verdicts proven by results and manifests
	Imported int    // verdicts of another tool, without proof
	Unjudged int    // verdicts of checkpoints that were not judged, such as broken ones
	Findings []Finding
}

// Finding is an error in a bundle.
type Finding struct {
	What    string `json:"what"`           // signature, entries, node, verdict, manifest, result or log
	Name    string `json:"name,omitempty"` // of the cell, or the node's address
	Message string `json:"message"`
}

// Maximum sizes of reads, in bytes: manifests have a line for each file of a source, and results come from
// reports of 16 MiB at most, but take several times their size in memory.
const (
	maxManifest = 256 << 20
	maxResult   = 64 << 20
)

// judgement holds the needed part of a result: all results together could exceed memory.
type judgement struct {
	sum  [sha256.Size]byte // digest of its JSON
	says string
}

func judgedBy(v *verdict.Checkpoint) (judgement, error) {
	text, err := json.Marshal(v)
	return judgement{sha256.Sum256(text), fmt.Sprintf("%s (%.40s)", v.Outcome(), v.Class)}, err
}

// packError reports a pack that is not a bundle. It wraps pack.ErrNoArchive.
type packError struct{ file string }

func (e *packError) Error() string { return e.file + ": a pack, not a bundle" }
func (e *packError) Unwrap() error { return pack.ErrNoArchive }

// Check checks a bundle. Its statement must be signed by one of the keys. An error wraps pack.ErrNoArchive
// if the file is not a readable bundle.
func Check(ctx context.Context, file string, keys []dsse.Verifier) (*Checked, error) {
	extra := map[string][]byte{}
	err := pack.Scan(ctx, file, nil, func(name string, content []byte) error {
		if extra[name] != nil {
			return fmt.Errorf("%w: %s is duplicated", pack.ErrNoArchive, name)
		}
		extra[name] = content
		return nil
	})
	if err != nil {
		return nil, err
	}
	if extra[entriesFile] == nil || extra[statementFile] == nil {
		return nil, &packError{file}
	}
	s, signed, err := openStatement(ctx, extra[statementFile], keys)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", file, pack.ErrNoArchive, err)
	}
	c := &checker{found: &Checked{Signed: signed}}
	if err := c.entries(s, extra[entriesFile]); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", file, pack.ErrNoArchive, err)
	}
	c.nodes()
	if err := c.blobs(ctx, file); err != nil {
		return nil, err
	}
	c.verdicts()
	return c.found, nil
}

// checker collects findings.
type checker struct {
	found  *Checked
	byKey  map[cache.Key]*Node
	broken map[cache.Key]bool // nodes with an error
	judged map[cache.Digest]judgement
}

func (c *checker) find(what, name, format string, args ...any) {
	c.found.Findings = append(c.found.Findings, Finding{what, name, fmt.Sprintf(format, args...)})
}

// entries compares the entries with the signed statement.
func (c *checker) entries(s *statement, text []byte) error {
	entries, err := decode(text)
	if err != nil {
		return err
	}
	about := s.Subject[0].Annotations
	f := c.found
	f.Entries, f.Digest = entries, digestOf(text)
	f.About = About{Run: about.Run, Version: s.Predicate.Configuration[0].Annotations.Version, Withheld: about.Withheld}
	if !f.Signed {
		c.find("signature", "", "not signed by one of the given keys")
	}
	if want := s.Subject[0].Digest["sha256"]; want != f.Digest {
		c.find("entries", "", "%s is signed, but the entries have %s: a line was changed, moved, added or removed", want, f.Digest)
	}
	if says, is := s.Predicate, newStatement(f.About, entries, f.Digest).Predicate; !reflect.DeepEqual(says, is) {
		c.find("entries", "", "signed as %s with %d passed, %d not judged and %d failed; the entries are %s with %d, %d and %d", says.Result, len(says.Passed), len(says.Warned), len(says.Failed),
			is.Result, len(is.Passed), len(is.Warned), len(is.Failed))
	}
	if about.Nodes != len(entries.Nodes) || about.Verdicts != len(entries.Verdicts) {
		c.find("entries", "", "the signature covers %d nodes and %d verdicts, but the bundle has %d and %d", about.Nodes, about.Verdicts, len(entries.Nodes), len(entries.Verdicts))
	}
	return nil
}

// nodes checks that a node of the bundle made every input of each node.
func (c *checker) nodes() {
	c.byKey, c.broken = map[cache.Key]*Node{}, map[cache.Key]bool{}
	for i := range c.found.Entries.Nodes {
		n := &c.found.Entries.Nodes[i]
		c.byKey[n.Key] = n
	}
	for i := range c.found.Entries.Nodes {
		n := &c.found.Entries.Nodes[i]
		for _, input := range n.Inputs {
			if c.byKey[input] == nil {
				c.broken[n.Key] = true
				c.find("node", n.Addr, "the node %s, whose output it used, is missing", input)
			}
		}
	}
}

// blobs checks the content that the bundle must contain.
func (c *checker) blobs(ctx context.Context, file string) error {
	c.judged = map[cache.Digest]judgement{}
	wanted := map[[sha256.Size]byte][]part{}
	for _, p := range c.found.Entries.parts(c.found.Withheld) {
		wanted[p.Hash] = append(wanted[p.Hash], p)
	}
	err := pack.Scan(ctx, file, func(name [32]byte, content io.Reader) error {
		parts := wanted[name]
		delete(wanted, name)
		hash := sha256.New()
		var kept bytes.Buffer
		for _, p := range parts {
			if p.kind != isLog {
				most := int64(maxManifest)
				if p.kind == isResult {
					most = maxResult
				}
				content = io.TeeReader(io.LimitReader(content, most), &kept)
				break
			}
		}
		if _, err := io.Copy(hash, content); err != nil {
			return fmt.Errorf("%w: %w", pack.ErrNoArchive, err)
		}
		same := [sha256.Size]byte(hash.Sum(nil)) == name
		for _, p := range parts {
			c.content(p, same, kept.Bytes())
		}
		return nil
	}, nil)
	for _, parts := range wanted {
		for _, p := range parts {
			c.report(p, "it is missing")
		}
	}
	slices.SortStableFunc(c.found.Findings, func(a, b Finding) int { return bytes.Compare([]byte(a.What+a.Name), []byte(b.What+b.Name)) })
	return err
}

func (c *checker) report(p part, message string) {
	if p.kind == isManifest {
		c.broken[cache.Key(p.Hash)] = true
	}
	if p.name != "" {
		message = fmt.Sprintf("%q: %s", p.name, message)
	}
	c.find(p.kind, p.addr, "%s", message)
}

// content checks a blob in one of its roles.
func (c *checker) content(p part, same bool, content []byte) {
	if !same {
		c.report(p, "it was changed")
		return
	}
	switch p.kind {
	case isManifest:
		if err := c.manifest(c.byKey[cache.Key(p.Hash)], content); err != nil {
			c.report(p, err.Error())
		}
	case isResult:
		v := new(verdict.Checkpoint)
		if err := json.Unmarshal(content, v); err != nil {
			c.report(p, err.Error())
			return
		}
		v.Tests = nil
		is, err := judgedBy(v)
		if err != nil {
			c.report(p, err.Error())
			return
		}
		c.judged[p.Digest] = is
	}
}

// manifest checks that a node equals its manifest, and that the manifest names outputs of exactly the nodes
// that it used.
func (c *checker) manifest(n *Node, content []byte) error {
	fields, err := graph.DecodeManifest(content)
	if err != nil {
		return err
	}
	named, made := map[string]bool{}, map[string]bool{}
	for _, input := range n.Inputs {
		if maker := c.byKey[input]; maker != nil {
			for _, o := range maker.Outputs {
				made[o.Digest.String()] = true
			}
		}
	}
	for _, f := range fields {
		if f.Digest {
			named[f.Value] = true
			if !made[f.Value] {
				return fmt.Errorf("%s, %s, is not an output of its inputs", f.Label, f.Value)
			}
		}
		if f.Label == "kind" && f.Value != n.Kind {
			return fmt.Errorf("it is of a node of kind %s, and not %s", f.Value, n.Kind)
		}
	}
	for _, input := range n.Inputs {
		maker := c.byKey[input]
		if maker != nil && !slices.ContainsFunc(maker.Outputs, func(o cache.Output) bool { return named[o.Digest.String()] }) {
			return fmt.Errorf("it has no output of %s", maker.Addr)
		}
	}
	return nil
}

// verdicts checks that each verdict equals the output of its node.
func (c *checker) verdicts() {
	whole := map[cache.Key]bool{} // nodes without broken dependencies
	withheld := slices.Contains(c.found.Withheld, "tests")
	for i := range c.found.Entries.Verdicts {
		v := &c.found.Entries.Verdicts[i]
		if v.Node == nil {
			c.countUnproven(v)
			continue
		}
		if err := c.verdict(v, withheld); err != nil {
			c.find("verdict", v.Name(), "%v", err)
			continue
		}
		switch {
		case withheld:
		case c.isIntact(*v.Node, whole):
			c.found.Proven++
		case len(c.broken) == 0: // no dependency is broken itself
			c.find("verdict", v.Name(), "it depends on itself")
		}
	}
}

// countUnproven counts a verdict without a node, which is allowed for a checkpoint that was not judged.
func (c *checker) countUnproven(v *Verdict) {
	switch {
	case v.Imported:
		c.found.Imported++
	case v.Verdict.Class == verdict.Judged || v.Verdict.Passed || v.Verdict.Score.Bounded != nil:
		c.find("verdict", v.Name(), "nothing proves it")
	default:
		c.found.Unjudged++
	}
}

func (c *checker) verdict(v *Verdict, withheld bool) error {
	n := c.byKey[*v.Node]
	if n == nil {
		return fmt.Errorf("the node %s, which produced it, is missing", v.Node)
	}
	made := func(o cache.Output) bool { return o.Name == tasks.ResultOutput && o.Digest == *v.Result }
	if !slices.ContainsFunc(n.Outputs, made) {
		return fmt.Errorf("%s did not produce the result", n.Addr)
	}
	is, ok := c.judged[*v.Result]
	if !ok {
		if withheld {
			return nil
		}
		return errors.New("its result is missing or changed")
	}
	signed, err := judgedBy(v.Verdict)
	if err != nil {
		return err
	}
	if signed.sum != is.sum {
		return fmt.Errorf("it differs from its result, %s", is.says)
	}
	return nil
}

// isIntact reports whether a node and all of its dependencies are free of errors.
func (c *checker) isIntact(key cache.Key, whole map[cache.Key]bool) bool {
	if known, ok := whole[key]; ok {
		return known
	}
	n := c.byKey[key]
	whole[key] = false // until all dependencies are checked
	if n == nil || c.broken[key] {
		return false
	}
	for _, input := range n.Inputs {
		if !c.isIntact(input, whole) {
			return false
		}
	}
	whole[key] = true
	return true
}
