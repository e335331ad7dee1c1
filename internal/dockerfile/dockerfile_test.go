package dockerfile

import (
	"slices"
	"strings"
	"testing"
)

func TestBases(t *testing.T) {
	for _, try := range []struct {
		name, dockerfile string
		args             map[string]string
		want             []string
	}{
		{"one", "FROM python:3.12\nRUN true\n", nil, []string{"python:3.12"}},
		{"lower case, comments, continued", "# x\nfrom \\\n  # y\n  python:3.12\n", nil, []string{"python:3.12"}},
		{"nothing", "FROM scratch\nCOPY a /a\n", nil, nil},
		{"default", "ARG TAG=3.12\nFROM python:$TAG\n", nil, []string{"python:3.12"}},
		{"given", "ARG TAG=3.12\nFROM python:${TAG}-slim\n", map[string]string{"TAG": "3.13"}, []string{"python:3.13-slim"}},
		{"given as nothing", "ARG TAG=3.12\nFROM python${TAG:+:}$TAG\n", map[string]string{"TAG": ""}, []string{"python"}},
		{"of another", "ARG A=3\nARG B=$A.12\nFROM python:$B\n", map[string]string{"A": "4"}, []string{"python:4.12"}},
		{"fallback", "ARG TAG\nFROM python:${TAG:-3.11}\n", nil, []string{"python:3.11"}},
		{"not declared", "FROM python:${TAG:-3.11}\n", map[string]string{"TAG": "3.13"}, []string{"python:3.11"}},
		{"stages", "FROM a AS one\nFROM one AS two\nFROM b\nCOPY --from=two /x /x\nCOPY --from=0 /y /y\nCOPY --from=c:1 /z /z\n", nil, []string{"a", "b", "c:1"}},
		{"a stage's name that comes later", "FROM one\nFROM a AS one\n", nil, []string{"one", "a"}},
		{"stages differ in case", "FROM a AS One\nFROM ONE\n", nil, []string{"a"}},
		{"twice", "FROM a\nFROM a\nCOPY --from=a /x /x\n", nil, []string{"a"}},
		{"platform", "FROM --platform=linux/arm64 a\n", nil, []string{"a"}},
		{"escape", "# escape=`\nARG A=x\nFROM `\n  a:$A\n", nil, []string{"a:x"}},
	} {
		got, err := Bases([]byte(try.dockerfile), try.args)
		if err != nil || !slices.Equal(got, try.want) {
			t.Errorf("%s: %q, %v, want %q", try.name, got, err, try.want)
		}
	}
}

func TestBasesRefuse(t *testing.T) {
	for dockerfile, want := range map[string]string{
		"":                       "file with no instructions",
		"# nothing\n":            "file with no instructions",
		"ARG A=1\n":              "no FROM",
		"RUN true\n":             "no build stage in current context",
		"FRMO python\n":          "unknown instruction: FRMO",
		"FROM python\nCPY a b\n": "unknown instruction: CPY",
		"FROM $NOTHING\n":        "FROM $NOTHING names no image",
		"FROM a:${X\n":           "failed to process",
	} {
		_, err := Bases([]byte(dockerfile), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", dockerfile, err, want)
		}
	}
}

func FuzzBases(f *testing.F) {
	f.Add([]byte("ARG A=1\nFROM a:$A AS b\nCOPY --from=c /x /x\n"))
	f.Add([]byte("# escape=`\nFROM `\n a\nRUN <<E\nx\nE\n"))
	f.Fuzz(func(t *testing.T, dockerfile []byte) {
		found, _ := Bases(dockerfile, map[string]string{"A": "2"})
		if slices.Contains(found, "") {
			t.Errorf("a base without a name: %q", found)
		}
	})
}
