package eval

import "fmt"

// ResourceGroup lists problems of a plan that request the same machines.
type ResourceGroup struct {
	Resources map[string]string `json:"resources"` // requested resources; empty if none are
	Problems  []string          `json:"problems"`  // in the order of the configuration
	Stale     int               `json:"stale"`     // number of stale nodes
}

// resourceGroups groups the problems of a plan by resources, in order of first use. It returns nil if no
// problem requests any.
func (x *execution) resourceGroups() []ResourceGroup {
	nodes, stale := map[string]int{}, map[string]int{}
	for _, id := range x.project.Plan.Graph.Closure(x.goals.targets) {
		problem := x.project.Plan.Graph.Node(id).Label("problem")
		nodes[problem]++
		if st := x.rep.Status(id); stateOf(st) != Fresh && !st.Unknown {
			stale[problem]++
		}
	}
	var groups []ResourceGroup
	at, asked := map[string]int{}, false
	for _, problem := range x.call.Config.Problems {
		if nodes[problem.Name] == 0 {
			continue
		}
		names, values := problem.Resources.Fields()
		asked = asked || len(names) > 0
		signature := fmt.Sprintf("%q %q", names, values)
		i, known := at[signature]
		if !known {
			i = len(groups)
			at[signature] = i
			g := ResourceGroup{Resources: map[string]string{}}
			for j, name := range names {
				g.Resources[name] = values[j]
			}
			groups = append(groups, g)
		}
		groups[i].Problems = append(groups[i].Problems, problem.Name)
		groups[i].Stale += stale[problem.Name]
	}
	if !asked {
		return nil
	}
	return groups
}
