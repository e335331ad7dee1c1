package lang

import (
	"strings"
	"time"
)

// SkyPilotBackend contains the settings of backend "skypilot" beyond Machines, which describes its clusters.
type SkyPilotBackend struct {
	Infra           string        `hcl:"infra"`         // "slurm/cluster", "kubernetes/context", "gcp/us-central1"
	API             string        `hcl:"api"`           // address of SkyPilot's API server, or LocalAPI
	Spot            bool          `hcl:"spot"`          // preemptible machines
	ClusterSetup    []string      `hcl:"cluster_setup"` // commands on each cluster before its worker starts
	Deadline        time.Duration `hcl:"deadline"`      // for a cluster to be there
	Idle            time.Duration `hcl:"idle"`          // without work, after which a cluster is ended; 0: at the run's end
	Keep            time.Duration `hcl:"keep"`          // how long clusters wait for another run; 0: not
	Autostop        time.Duration `hcl:"autostop"`      // after which SkyPilot ends a cluster without a job
	TimeLimit       time.Duration `hcl:"time_limit"`    // of a job of Slurm; 0: the partition's
	Price           float64       `hcl:"price"`         // US dollars of a cluster and hour; 0: SkyPilot's catalogue
	MaxCost         float64       `hcl:"max_cost"`      // US dollars of a run; 0: no limit
	Versions        []string      `hcl:"versions"`      // shell commands whose output is part of the identity
	Isolation       string        `hcl:"isolation"`     // as of a local backend
	GoJudge         string        `hcl:"go_judge"`      // a name on the clusters, or an absolute path on this machine; "" if unset
	GoJudgeVersions []string      `hcl:"go_judge_versions"`
	Program         string        `hcl:"program"`    // fevalgraph for the clusters; "" means the running program
	SSHConfig       string        `hcl:"ssh_config"` // "" is SkyPilot's for Slurm, else ssh's own
}

// LocalAPI means SkyPilot's API server on this machine, started if none answers.
const LocalAPI = "local"

func skyPilotKind() backendKind {
	return backendKind{schema: skyPilotSchema(), decode: func(b *block, made *Backend) {
		made.SkyPilot, made.Machines = &SkyPilotBackend{}, &Machines{Resources: b.resources()}
		b.fill(made.SkyPilot)
		b.fill(made.Machines)
		made.Judges = made.SkyPilot.GoJudge != ""
	}}
}

// programOrName checks the path of a program here, or the name of a program elsewhere.
func programOrName(b *block, name, text string) (string, bool) {
	if strings.ContainsRune(text, '/') {
		return absolute(b, name, text)
	}
	return text, true
}

func skyPilotSchema() BlockSchema {
	judge := goJudgeSchema()
	resources := resourcesSchema()
	resources.Doc = "Hardware of each cluster. Problems with other resources get separate clusters."
	return BlockSchema{
		Name: "skypilot",
		Doc:  "Clusters of machines that SkyPilot launches: on Slurm, Kubernetes and clouds.",
		Attributes: append(inheritance("[]", "[]"),
			AttributeSchema{Name: "infra", Type: TypeText, Required: true, Doc: "Where clusters are launched, as SkyPilot writes it: \"slurm/cluster\", \"kubernetes/context\", \"gcp/us-central1\"."},
			AttributeSchema{Name: "api", Type: TypeText, form: endpoint.or(LocalAPI), Default: `"local"`, Doc: "Address of SkyPilot's API server. \"local\" is this machine's, which a run starts and ends if necessary."},
			AttributeSchema{Name: "token", Type: TypeText, secrets: true, form: token, Doc: "Token of a service account, for a server with a login."},
			AttributeSchema{Name: "slots", Type: TypeInteger, Default: "4", Doc: "Nodes that run at once on a cluster."},
			AttributeSchema{Name: "max_clusters", Type: TypeInteger, Default: "1", Doc: "Clusters with the same resources at once."},
			AttributeSchema{Name: "spot", Type: TypeBool, Default: "false", Doc: "Whether clusters are spot machines. Work that is lost with them is done again."},
			AttributeSchema{Name: "cluster_setup", Type: TypeOneOrTexts, Default: "[]", Doc: "Shell commands that run once on each cluster, such as those that install compilers."},
			AttributeSchema{Name: "deadline", Type: TypeDuration, Default: `"20m"`, Doc: "Limit on launching a cluster, the time in the provider's queue included."},
			AttributeSchema{Name: "idle", Type: TypeDuration, Default: `"10m"`, Doc: "Time without work after which a cluster is ended during the run; null is never."},
			AttributeSchema{Name: "keep", Type: TypeDuration, Doc: "How long clusters wait for another run. By default the run ends them."},
			AttributeSchema{Name: "autostop", Type: TypeDuration, Default: `"30m"`, Doc: "Time after which SkyPilot ends a cluster without a job, as a safety net."},
			AttributeSchema{Name: "time_limit", Type: TypeDuration, Doc: "Time after which Slurm ends a cluster. The default is the partition's."},
			AttributeSchema{Name: "price", Type: TypeNumber, Doc: "US dollars that a cluster costs per hour. The default is that of SkyPilot's catalogue, if known."},
			AttributeSchema{Name: "max_cost", Type: TypeNumber, Doc: "Maximum US dollars of a run: a cluster that could exceed it within its first hour is not launched."},
			AttributeSchema{Name: "python", Type: TypeText, Default: `""`, Doc: "Interpreter that uv selects on the clusters, such as \"3.12\"."},
			AttributeSchema{Name: "versions", Type: TypeOneOrTexts, Default: "[]", Doc: "Commands, run on a cluster, whose output enters keys."},
			AttributeSchema{Name: "isolation", Type: TypeText, form: isolation, Default: `""`, Doc: "Isolation, as on a local backend. The default is the most that the machines allow."},
			AttributeSchema{Name: "go_judge", Type: TypeText, Path: true, form: programOrName, Default: `""`, Doc: "go-judge, for judge problems: a local path, which is sent to clusters, or a name in PATH there. Without it judge problems are not evaluated here."},
			AttributeSchema{Name: "go_judge_versions", Type: TypeOneOrTexts, Default: judge.Attribute("versions").Default, Doc: "Shell commands, run in go-judge's sandbox, whose output enters keys."},
			AttributeSchema{Name: "program", Type: TypeText, Path: true, Doc: "Path of a fevalgraph of the same version for the clusters' system. The default is `fevalgraph-worker` next to this program, or this program if it is for Linux."},
			AttributeSchema{Name: "ssh_config", Type: TypeText, Path: true, Doc: "Path of the ssh configuration. The default is ~/.slurm/config for Slurm, else ssh's own."},
		),
		Blocks: []BlockSchema{resources},
	}
}
