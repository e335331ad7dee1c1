package lang

import "testing"

func TestFormat(t *testing.T) {
	got, list := Format("x.hcl", []byte("locals{\na=1\n  bb   = 2 # why\n}\n"))
	const want = "locals {\n  a  = 1\n  bb = 2 # why\n}\n"
	if len(list) > 0 || string(got) != want {
		t.Errorf("got %q, %v; want %q", got, list, want)
	}
}

func TestFormatBroken(t *testing.T) {
	const src = "locals {\n  a = \n}\n"
	got, list := Format("x.hcl", []byte(src))
	if !list.HasErrors() || string(got) != src {
		t.Fatalf("got %q, %v; want the text as it was and an error", got, list)
	}
	if d := list[0]; d.Code != "syntax" || d.Range.File != "x.hcl" || d.Range.Start.Line != 2 || len(d.Snippet) == 0 || d.Context != "" {
		t.Errorf("got %+v", d)
	}
}
