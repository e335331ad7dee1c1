package backend

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// MinSecret is the length in bytes below which a secret is not masked: hiding
// every "1" of a log would hide the log and betray the secret.
const MinSecret = 4

const mask = "***"

// Redact returns a writer that passes what it is given on to w with every
// occurrence of a secret replaced by "***", also when it is split over
// several writes. Overlapping and adjacent occurrences become one mask. Of a
// secret of several lines each line is a secret too, because logs are cut and
// prefixed by lines.
//
// What may be the beginning of a secret is held back until the next Write or
// Close. Close flushes it and does not close w. Not safe for concurrent use.
func Redact(w io.Writer, secrets []string) io.WriteCloser {
	return &redactor{w: w, secrets: maskable(secrets)}
}

// RedactBytes returns b with every secret masked as by Redact.
func RedactBytes(b []byte, secrets []string) []byte {
	r := redactor{secrets: maskable(secrets)}
	return r.scan(nil, b, true)
}

// maskable returns what is looked for, longest first and each once.
func maskable(secrets []string) [][]byte {
	var parts []string
	for _, s := range secrets {
		parts = append(parts, s, strings.TrimSpace(s))
		for line := range strings.Lines(s) {
			parts = append(parts, strings.TrimSpace(line))
		}
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return len(s) < MinSecret })
	slices.SortFunc(parts, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	parts = slices.Compact(parts)
	out := make([][]byte, len(parts))
	for i, s := range parts {
		out[i] = []byte(s)
	}
	return out
}

type redactor struct {
	w       io.Writer
	secrets [][]byte // longest first
	held    []byte   // read, not yet decided
	covered int      // bytes from here on that belong to a secret found before
	masking bool     // the byte before belonged to a secret
	err     error    // w's first error; sticky, what was held is gone
}

// Write implements io.Writer. It reports len(p) unless w fails.
func (r *redactor) Write(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if len(r.secrets) == 0 {
		return r.w.Write(p)
	}
	r.held = append(r.held, p...)
	r.flush(false)
	if r.err != nil {
		return 0, r.err
	}
	return len(p), nil
}

// Close implements io.Closer.
func (r *redactor) Close() error {
	if r.err == nil {
		r.flush(true)
	}
	return r.err
}

func (r *redactor) flush(last bool) {
	out := r.scan(make([]byte, 0, len(r.held)), r.held, last)
	if len(out) > 0 {
		_, r.err = r.w.Write(out)
	}
}

// scan appends the masked form of text to out, as far as it can be decided,
// and keeps the rest in r.held. The outcome is a function of the whole
// stream, however it is cut.
func (r *redactor) scan(out, text []byte, last bool) []byte {
	i := 0
	for ; i < len(text); i++ {
		n, undecided := r.match(text[i:])
		if undecided && !last {
			break
		}
		r.covered = max(r.covered, n)
		switch {
		case r.covered == 0:
			out = append(out, text[i])
			r.masking = false
		case !r.masking:
			out = append(out, mask...)
			r.masking = true
		}
		r.covered = max(r.covered-1, 0)
	}
	r.held = append(r.held[:0], text[i:]...)
	return out
}

// match returns the length of the longest secret that text begins with, and
// whether a longer one could still turn out to be there.
func (r *redactor) match(text []byte) (n int, undecided bool) {
	for _, s := range r.secrets {
		switch {
		case s[0] != text[0]:
		case bytes.HasPrefix(text, s):
			return len(s), undecided
		case bytes.HasPrefix(s, text):
			undecided = true
		}
	}
	return 0, undecided
}
