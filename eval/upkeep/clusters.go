package upkeep

import (
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/options"
)

// Clusters returns the clusters of a project, living or left behind.
func Clusters(o options.Options) ([]kind.Cluster, error) {
	site := o.BareSite()
	defer site.Close()
	var all []kind.Cluster
	for _, k := range o.Kinds {
		if k.Clusters == nil {
			continue
		}
		found, err := k.Clusters(site)
		if err != nil {
			return nil, exit.With(exit.NotJudged, err)
		}
		all = append(all, found...)
	}
	for i := range all {
		living, err := site.Living(all[i].Run)
		if err != nil {
			return nil, exit.With(exit.NotJudged, err)
		}
		all[i].Living = living
	}
	return all, nil
}
