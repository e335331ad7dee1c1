package kinds

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Blocks share a server if they mean the same one, with the same rights.
func TestServersShared(t *testing.T) {
	s := &kind.Site{Store: cache.NewMemory(), LookupEnv: func(string) (string, bool) { return "", false }}
	block := func(change func(*lang.Backend, *goJudge)) *lang.Backend {
		b, j := &lang.Backend{}, &goJudge{Endpoint: "http://127.0.0.1:1"}
		change(b, j)
		b.Attributes = lang.NewAttributes(j)
		return b
	}
	first, err := serverOf(s, block(func(*lang.Backend, *goJudge) {}))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*lang.Backend, *goJudge){
		"endpoint":    func(_ *lang.Backend, j *goJudge) { j.Endpoint = "http://127.0.0.1:2" },
		"token":       func(b *lang.Backend, _ *goJudge) { b.Token = "t" },
		"parallelism": func(_ *lang.Backend, j *goJudge) { j.Parallelism = 3 },
	} {
		if other, err := serverOf(s, block(change)); err != nil || other == first {
			t.Errorf("another %s shares the server (%v)", name, err)
		}
	}
	if same, err := serverOf(s, block(func(_ *lang.Backend, j *goJudge) { j.Versions = []string{"x"} })); err != nil || same != first {
		t.Errorf("other versions have another server (%v)", err)
	}
}

// The server of a project's configuration receives requests only if the user trusts the project with it.
func TestGoJudgeDoctor(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.Error(w, "no go-judge", http.StatusTeapot)
	}))
	defer server.Close()
	b := &lang.Backend{Kind: "gojudge", Name: "b", Attributes: lang.NewAttributes(&goJudge{Endpoint: server.URL})}
	cfg := &lang.Config{Backends: []*lang.Backend{b, b}}
	for trusted, want := range map[bool]string{false: "the project is not trusted", true: "go-judge"} {
		asked.Store(0)
		s := &kind.Site{Store: cache.NewMemory(), LookupEnv: func(string) (string, bool) { return "", false }, Trusts: func([]string) bool { return trusted }}
		k := goJudgeKind()
		found := k.Diagnose(t.Context(), s, cfg, false)
		if len(found) != 1 || found[0].State == "ok" || !strings.Contains(found[0].Detail, want) || (asked.Load() > 0) != trusted {
			t.Errorf("trusted %v: %+v, %d requests", trusted, found, asked.Load())
		}
	}
}
