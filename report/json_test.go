package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

func TestJSONShape(t *testing.T) {
	out := string(render(t, "json", mixed(), Options{}))
	for _, want := range []string{
		`{"schema":1,"run":"20260102-030405-abcd","cells":[{"problem":"kvstore","solution":"reference","backend":"local.host","repeat":1,`,
		`"labels":{"a<b":"c&d","model":"none"}`,
		`"score":1,"score_unbounded":null,"message":null,"checkpoints":[{"name":"checkpoint_1","passed":true,`,
		`"exit_code":0,"collected":3,"infrastructure_failure":false,`,
		`"groups":{"core":{"passed":1,"total":1},"functionality":{"passed":0,"total":1},"regression":{"passed":0,"total":0},"error":{"passed":1,"total":1}},"tests":[`,
		`{"id":"test_get[empty]","file":"tests/test_checkpoint_1.py","checkpoint":"checkpoint_1","group":"core","status":"passed","duration_ms":12.5,"message":null}`,
		`"score":0,`,
		`"status":"broken","score":null,"score_unbounded":null,"message":"image not found","checkpoints":[]}`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if strings.Contains(out, `\u003c`) || strings.Contains(out, ":null,\"tests\"") || strings.Contains(out, `"tests":null`) {
		t.Error("HTML escapes or null lists")
	}
}

func TestDecodeReadsWhatWasWritten(t *testing.T) {
	for _, r := range []*Results{mixed(), many(3), {Run: "empty"}} {
		out := render(t, "json", r, Options{})
		back, err := Decode(bytes.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		// Invalid UTF-8 is written as an escape first, and afterwards as the replacement character.
		out = bytes.ReplaceAll(out, []byte(`\ufffd`), []byte("\ufffd"))
		if diff := cmp.Diff(string(out), string(render(t, "json", back, Options{}))); diff != "" {
			t.Errorf("changed on the way:\n%s", diff)
		}
	}
}

func TestDecode(t *testing.T) {
	const head = `{"schema":1,"run":"r","cells":[{"problem":"p","checkpoints":[`
	for name, c := range map[string]struct{ in, err string }{
		"new fields":         {`{"schema":1,"later":{"a":[1]},"cells":[{"problem":"p","hue":3,"checkpoints":[{"name":"c","class":"judged","x":null}]}]}`, ""},
		"no schema":          {`{"run":"r","cells":[]}`, "schema 0"},
		"next schema":        {`{"schema":2,"cells":[]}`, "schema 2 is not 1"},
		"truncated":          {head, "unexpected EOF"},
		"empty":              {``, "EOF"},
		"null":               {`null`, "schema 0"},
		"trailing":           {`{"schema":1,"cells":[]} {}`, "something follows"},
		"array":              {`[]`, "cannot unmarshal"},
		"more than all":      {head + `{"name":"c","class":"judged","groups":{"core":{"passed":3,"total":2}}}]}]}`, "3 of 2 core"},
		"negative":           {head + `{"name":"c","class":"judged","groups":{"core":{"passed":-1,"total":2}}}]}]}`, "-1 of 2 core"},
		"pass of no verdict": {head + `{"name":"c","class":"broken","passed":true}]}]}`, `its class is "broken"`},
		"wrong type":         {`{"schema":1,"cells":[{"repeat":"one"}]}`, "cannot unmarshal"},
	} {
		r, err := Decode(strings.NewReader(c.in))
		switch {
		case c.err == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.err == "":
			if got := r.Cells[0].Checkpoints[0]; len(got.Groups) != len(verdict.Groups) || got.Tests == nil {
				t.Errorf("%s: groups or tests left empty: %+v", name, got)
			}
		case err == nil || !strings.Contains(err.Error(), c.err):
			t.Errorf("%s: error %v, want %q", name, err, c.err)
		}
	}
}

// Decode never panics, and every format renders its results, which round-trip.
func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	if err := Write(&b, "json", mixed(), Options{}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"schema":1,"cells":[{"checkpoints":[{"class":"judged","passed":true,"groups":{"":{}},"tests":[{}]}]}]}`))
	f.Add([]byte(`{"schema":1,"cells":[{"status":"success"}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := Decode(bytes.NewReader(in))
		if err != nil {
			return
		}
		for _, format := range Formats() {
			render(t, format, r, Options{Page: text.Page{Width: 60}})
		}
		// Invalid UTF-8 becomes replacement characters on the first round trip.
		var out []byte
		for range 2 {
			out = render(t, "json", r, Options{})
			if r, err = Decode(bytes.NewReader(out)); err != nil {
				t.Fatalf("own output: %v", err)
			}
		}
		if again := render(t, "json", r, Options{}); !bytes.Equal(out, again) {
			t.Errorf("changed on the way:\n%s\n%s", out, again)
		}
	})
}
