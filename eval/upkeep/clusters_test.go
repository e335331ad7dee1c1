package upkeep

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Users who look for costs find clusters, with their cost.
func TestClusters(t *testing.T) {
	cost := 1.5
	now := time.Now()
	ended := 0
	o := options.Options{
		Inputs:    lang.Inputs{Dir: t.TempDir()},
		LookupEnv: func(string) (string, bool) { return "", false },
		Kinds: []kind.Kind{{Name: "k",
			Clusters: func(*kind.Site) ([]kind.Cluster, error) {
				return []kind.Cluster{
					{Name: "left", Machines: "m", Run: "dead", Since: now, Cost: &cost},
					{Name: "kept", Machines: "m", Run: "dead", Since: now, Kept: now.Add(time.Hour)},
				}, nil
			},
			EndClusters: func(_ context.Context, _ *kind.Site, all bool) ([]string, error) {
				if all {
					ended++
				}
				return []string{"left"}, nil
			},
		}},
	}
	clusters, err := Clusters(o)
	if err != nil || len(clusters) != 2 || !clusters[0].Orphaned(now) || clusters[1].Orphaned(now) {
		t.Errorf("%+v, %v", clusters, err)
	}
	if said := clusters[0].String(); !strings.Contains(said, "$1.50") || !strings.Contains(said, "left behind") {
		t.Error(said)
	}
	if said := clusters[1].String(); !strings.Contains(said, "cost not known") || !strings.Contains(said, "kept until") {
		t.Error(said)
	}
	found := map[string]string{}
	for _, f := range checkClusters(&o) {
		found[strings.SplitN(f.Detail, ":", 2)[0]] = f.State
	}
	if found["left"] != "warning" || found["kept"] != "ok" {
		t.Errorf("doctor reports %v", found)
	}
	c, err := Clean(t.Context(), o, CleanRequest{Clusters: true})
	if err != nil || ended != 1 || len(c.Clusters) != 1 {
		t.Errorf("clean: %+v, %v, %d", c, err, ended)
	}
}
