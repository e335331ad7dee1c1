package skypilot

import (
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/lang"
)

// attributes holds the attributes of a block beyond lang.Machines, which describes its clusters.
type attributes struct {
	Infra           string        `hcl:"infra" keys:"-"`    // "slurm/cluster", "kubernetes/context", "gcp/us-central1"
	API             string        `hcl:"api" keys:"-"`      // address of SkyPilot's API server, or LocalAPI
	Spot            bool          `hcl:"spot" keys:"-"`     // preemptible machines
	ClusterSetup    []string      `hcl:"cluster_setup"`     // commands on each cluster before its worker starts
	Deadline        time.Duration `hcl:"deadline" keys:"-"` // for launching a cluster
	Idle            time.Duration `hcl:"idle" keys:"-"`     // without work, after which a cluster is ended; 0: at the run's end
	Keep            time.Duration `hcl:"keep" keys:"-"`     // how long clusters wait for another run; 0 means that they do not wait
	Autostop        time.Duration `hcl:"autostop" keys:"-"` // after which SkyPilot ends a cluster without a job
	TimeLimit       time.Duration `hcl:"time_limit"`        // of a job of Slurm; 0: the partition's
	Price           float64       `hcl:"price" keys:"-"`    // US dollars of a cluster per hour; 0 means SkyPilot's catalogue
	MaxCost         float64       `hcl:"max_cost" keys:"-"` // US dollars of a run; 0 means no limit
	Versions        []string      `hcl:"versions"`          // shell commands whose output is part of the identity
	Isolation       string        `hcl:"isolation"`         // as of a local backend
	GoJudge         string        `hcl:"go_judge"`          // a name on the clusters, or an absolute path on this machine; "" if unset
	GoJudgeVersions []string      `hcl:"go_judge_versions"`
	Program         string        `hcl:"program" keys:"-"`    // fevalgraph for the clusters; "" means the running program
	SSHConfig       string        `hcl:"ssh_config" keys:"-"` // "" means SkyPilot's for Slurm, and otherwise ssh's own
}

// localAPI means SkyPilot's API server on this machine, started if none answers.
const localAPI = "local"

// block returns the blocks of backend "skypilot".
func block() lang.BackendKind {
	resources := lang.ResourcesSchema()
	resources.Doc = "Hardware of each cluster. Problems with other resources get separate clusters."
	complete := func(_ *lang.Block, made *lang.Backend, a any) { made.Judges = a.(*attributes).GoJudge != "" }
	return lang.BackendKind{Attributes: attributes{}, Check: complete, Schema: lang.BlockSchema{
		Name: Kind,
		Doc:  "Clusters of machines that SkyPilot launches: on Slurm, Kubernetes and clouds.",
		Attributes: slices.Concat(lang.Inheritance("[]", "[]"), []lang.AttributeSchema{
			{Name: "infra", Type: lang.TypeText, Required: true, Doc: "Where clusters are launched, as SkyPilot writes it: \"slurm/cluster\", \"kubernetes/context\", \"gcp/us-central1\"."},
			{Name: "api", Type: lang.TypeText, Form: lang.FormEndpoint.Or(localAPI), Default: `"local"`, Doc: "Address of SkyPilot's API server. \"local\" is this machine's, which a run starts and ends if necessary."},
			{Name: "token", Type: lang.TypeText, Secrets: true, Form: lang.FormToken, Doc: "Token of a service account, for a server with a login."},
			{Name: "slots", Type: lang.TypeInteger, Default: "4", Doc: "Nodes that run at once on a cluster."},
			{Name: "max_clusters", Type: lang.TypeInteger, Default: "1", Doc: "Clusters with the same resources at once."},
			{Name: "spot", Type: lang.TypeBool, Default: "false", Doc: "Whether clusters are spot machines. Work that is lost with them is done again."},
			{Name: "cluster_setup", Type: lang.TypeOneOrTexts, Default: "[]", Doc: "Shell commands that run once on each cluster, such as those that install compilers."},
			{Name: "deadline", Type: lang.TypeDuration, Default: `"20m"`, Doc: "Limit on launching a cluster, the time in the provider's queue included."},
			{Name: "idle", Type: lang.TypeDuration, Default: `"10m"`, Doc: "Time without work after which a cluster is ended during the run; null is never."},
			{Name: "keep", Type: lang.TypeDuration, Doc: "How long clusters wait for another run. By default the run ends them."},
			{Name: "autostop", Type: lang.TypeDuration, Default: `"30m"`, Doc: "Time after which SkyPilot ends a cluster without a job, as a safety net."},
			{Name: "time_limit", Type: lang.TypeDuration, Doc: "Time after which Slurm ends a cluster. The default is the partition's."},
			{Name: "price", Type: lang.TypeNumber, Doc: "US dollars that a cluster costs per hour. The default is that of SkyPilot's catalogue, if known."},
			{Name: "max_cost", Type: lang.TypeNumber, Doc: "Maximum US dollars of a run: a cluster that could exceed it within its first hour is not launched."},
			{Name: "python", Type: lang.TypeText, Default: `""`, Doc: "Interpreter that uv selects on the clusters, such as \"3.12\"."},
			{Name: "versions", Type: lang.TypeOneOrTexts, Default: "[]", Doc: "Commands, run on a cluster, whose output enters keys."},
			{Name: "isolation", Type: lang.TypeText, Form: lang.FormIsolation, Default: `""`, Doc: "Isolation, as on a local backend. The default is the most that the machines allow."},
			{Name: "go_judge", Type: lang.TypeText, Path: true, Form: programOrName, Default: `""`, Doc: "go-judge, for judge problems: a local path, which is sent to clusters, or a name in PATH there. Without it judge problems are not evaluated here."},
			{Name: "go_judge_versions", Type: lang.TypeOneOrTexts, Default: lang.DefaultTexts(backend.SandboxVersions), Doc: "Shell commands, run in go-judge's sandbox, whose output enters keys."},
			{Name: "program", Type: lang.TypeText, Path: true, Doc: "Path of a fevalgraph of the same version for the clusters' system. The default is `fevalgraph-worker` next to this program, or this program if it is for Linux."},
			{Name: "ssh_config", Type: lang.TypeText, Path: true, Doc: "Path of the ssh configuration. The default is ~/.slurm/config for Slurm, else ssh's own."},
		}),
		Blocks: []lang.BlockSchema{resources},
	}}
}

// programOrName checks the path of a program here, or the name of a program elsewhere.
func programOrName(b *lang.Block, name, text string) (string, bool) {
	if strings.ContainsRune(text, '/') {
		return lang.FormPath(b, name, text)
	}
	return text, true
}
