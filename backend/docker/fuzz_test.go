package docker

import (
	"io"
	"strings"
	"testing"
)

// What a container prints about itself is facts, or an error.
func FuzzFacts(f *testing.F) {
	f.Add(probeMark + "uid 1000\n" + probeMark + "gid 1000\n" + probeMark + "python /usr/bin/python3\n" + probeMark + "version CPython 3.11.2\n")
	f.Add(probeMark + "uid x\n")
	f.Add("noise\n" + probeMark + "uid 0\r\n" + probeMark + "gid 0")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := readFacts(text)
		if err == nil && (found.version == "" || (found.python == "") != (found.version == noPython) && found.version != noPython) {
			t.Errorf("%q: %+v", text, found)
		}
	})
}

// What a daemon says of a build ends with an image's ID or an error.
func FuzzBuild(f *testing.F) {
	f.Add(`{"stream":"Step 1/1 : FROM x\n"}` + "\n" + `{"aux":{"ID":"sha256:1"}}`)
	f.Add(`{"error":"no"}`)
	f.Add(`{"stream":"\u001b[91mred\u001b[0m"}`)
	f.Fuzz(func(t *testing.T, text string) {
		id, err := readBuild(strings.NewReader(text), io.Discard)
		if (id == "") != (err != nil) {
			t.Errorf("%q: %q, %v", text, id, err)
		}
	})
}
