package packs

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/pack"
	"github.com/fevalgraph/fevalgraph/eval/options"
)

// A pack needs no signature for its durations, so they must be plausible: sums must not overflow.
func TestHostileDurations(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "them.pack")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := `{"addr":"a","seconds":2}
{"addr":"b","seconds":1e308}
{"addr":"c","seconds":-1}
{"addr":"","seconds":1}
[]
`
	_, err = pack.Write(t.Context(), f, cache.NewMemory(), nil, pack.Contents{Records: map[cache.Key]*cache.Record{}, Extra: map[string][]byte{nodesFile: []byte(lines)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	environment := map[string]string{"HOME": dir, "FEVALGRAPH_CACHE_DIR": filepath.Join(dir, "store")}
	o := &options.Options{LookupEnv: func(name string) (string, bool) { value, ok := environment[name]; return value, ok }}
	o.Dir = dir
	u, err := unpack(t.Context(), o, []string{name}, false)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]float64{"a": 2}; !maps.Equal(u.seconds, want) {
		t.Errorf("it says %v, want %v", u.seconds, want)
	}
}
