package capped

import (
	"bytes"
	"strings"
	"testing"
)

func TestBufferKeepsBothEnds(t *testing.T) {
	b := Buffer{Head: 4, Tail: 4}
	for range 100 {
		b.Write([]byte("abcdefghij"))
	}
	got := string(b.Bytes())
	if !strings.HasPrefix(got, "abcd\n[... ") || !strings.HasSuffix(got, "ghij") {
		t.Errorf("kept %q", got)
	}
	if len(got) > 60 {
		t.Errorf("kept %d bytes", len(got))
	}
}

func TestBufferKeepsShortOutputWhole(t *testing.T) {
	var b Buffer
	b.Write([]byte("one\n"))
	b.Write([]byte("two\n"))
	if got := b.Bytes(); !bytes.Equal(got, []byte("one\ntwo\n")) {
		t.Errorf("got %q", got)
	}
}
