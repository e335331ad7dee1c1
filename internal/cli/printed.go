package cli

import (
	"strings"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/shards"
	"github.com/fevalgraph/fevalgraph/eval/upkeep"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/eval/validate"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/view"
)

// SchemaName returns the name of the file in docs/schema for the output of a command, such as "cache-stats".
func SchemaName(command string) string {
	switch command {
	case "run", "watch", "eval", "merge":
		return "events"
	}
	return strings.ReplaceAll(command, " ", "-")
}

// Printed returns a value of each type that commands print as JSON, by SchemaName. A command's flags select
// among several. It does not include events, which are lines of streams.
func Printed() map[string][]any {
	return map[string][]any{
		"bundle":       {bundleObject{}},
		"cache-audit":  {auditObject{}},
		"cache-gc":     {collectedObject{}},
		"cache-pack":   {packObject{}},
		"cache-pull":   {transferObject{}},
		"cache-push":   {transferObject{}},
		"cache-sign":   {signedObject{}},
		"cache-stats":  {storeObject{}},
		"cache-unpack": {unpackedObject{}},
		"cache-verify": {checkedObject{}},
		"compare":      {report.ContendersObject{}},
		"diff":         {report.DifferenceObject{}},
		"doctor":       {findingsObject{}},
		"explain":      {explainObject{}},
		"find":         {describe.UsesObject{}},
		"gen":          {describe.PlannedObject{}, describe.PastObject{}},
		"get":          {describe.GotObject{}},
		"graph":        {graph.Rendered{}},
		"keygen":       {keyObject{}},
		"list":         {listObject{}, coverageObject{}},
		"log":          {logObject{}},
		"plan":         {planObject{}, shards.Division{}},
		"query":        {foundNodes{}, foundCells{}, foundFiles{}},
		"release":      {describe.ReleaseObject{}},
		"report":       {pageObject{}, serverObject{}, figuresObject{}},
		"results":      {report.Results{}, report.GroupsObject{}, report.JSONLine{}, report.TaskLine{}},
		"runs":         {runsObject{}},
		"runs-prune":   {prunedObject{}},
		"schema":       {schemaObject{}},
		"show":         {factsObject{}},
		"status":       {statusObject{}},
		"trust":        {trustObject{}, distrustObject{}, trustedObject{}},
		"validate":     {validationObject{}, referencesObject{}},
		"variables":    {variablesObject{}},
		"verify":       {describe.VerifiedObject{}},
		"version":      {versionObject{}},
	}
}

type (
	auditObject struct {
		Schema    int                   `json:"schema"`
		Stored    int                   `json:"stored"`
		Checked   int                   `json:"checked"`
		Different []eval.AuditedResult  `json:"different"`
		Unjudged  []eval.AuditedProblem `json:"unjudged"`
	}
	bundleObject struct {
		Schema   int    `json:"schema"`
		File     string `json:"file"`
		Run      string `json:"run"`
		Verdicts int    `json:"verdicts"`
		Nodes    int    `json:"nodes"`
		Bytes    int64  `json:"bytes"`
		Signer   string `json:"signer"`
	}
	checkedObject struct {
		Schema   int      `json:"schema"`
		Blobs    int64    `json:"blobs"`
		Records  int64    `json:"records"`
		Corrupt  []string `json:"corrupt"`
		Dangling []string `json:"dangling"`
	}
	collectedObject struct {
		Schema     int   `json:"schema"`
		Blobs      int64 `json:"blobs"`
		Records    int64 `json:"records"`
		Bytes      int64 `json:"bytes"`
		KeptBytes  int64 `json:"kept_bytes"`
		Unreadable int64 `json:"unreadable"`
	}
	coverageObject struct {
		Schema   int                  `json:"schema"`
		Coverage []*validate.Coverage `json:"coverage"`
	}
	distrustObject struct {
		Schema  int    `json:"schema"`
		Root    string `json:"root"`
		Revoked bool   `json:"revoked"`
	}
	explainObject struct {
		Schema int `json:"schema"`
		view.Explanation
	}
	factsObject struct {
		Schema int          `json:"schema"`
		Fields []view.Field `json:"fields"`
	}
	findingsObject struct {
		Schema   int            `json:"schema"`
		Findings []kind.Finding `json:"findings"`
	}
	foundCell struct {
		Problem  string `json:"problem"`
		Solution string `json:"solution"`
		Backend  string `json:"backend"`
		Repeat   int    `json:"repeat"`
	}
	foundCells struct {
		Schema int         `json:"schema"`
		Cells  []foundCell `json:"cells"`
	}
	foundFiles struct {
		Schema int      `json:"schema"`
		Files  []string `json:"files"`
	}
	foundNodes struct {
		Schema int              `json:"schema"`
		Nodes  []eval.FoundNode `json:"nodes"`
	}
	keyObject struct {
		Schema int    `json:"schema"`
		File   string `json:"file"`
		Public string `json:"public"`
	}
	// listObject holds one kind of object under its name, and the schema.
	listObject map[string]any
	logObject  struct {
		Schema int    `json:"schema"`
		Log    string `json:"log"` // invalid UTF-8 is replaced
	}
	packObject struct {
		Schema    int    `json:"schema"`
		File      string `json:"file"`
		Records   int    `json:"records"`
		Blobs     int    `json:"blobs"`
		BlobBytes int64  `json:"blob_bytes"`
		Stale     int    `json:"stale"`
	}
	pageObject struct {
		Schema int    `json:"schema"`
		Run    string `json:"run"`
		File   string `json:"file"`
		Data   string `json:"data"` // directory; "" without one
		Bytes  int64  `json:"bytes"`
	}
	figuresObject struct {
		Schema    int      `json:"schema"`
		Run       string   `json:"run"`
		Directory string   `json:"directory"`
		Files     []string `json:"files"`
	}
	// view.WriteJSONList writes a planObject node by node.
	planObject struct {
		Schema int             `json:"schema"`
		Nodes  []eval.Decision `json:"nodes"`
		planTail
	}
	prunedObject struct {
		Schema int `json:"schema"`
		*upkeep.Pruned
		DryRun bool `json:"dry_run"`
	}
	referencesObject struct {
		Schema     int                `json:"schema"`
		Valid      bool               `json:"valid"`
		References []report.Reference `json:"references"`
	}
	runsObject struct {
		Schema int           `json:"schema"`
		Runs   []history.Run `json:"runs"`
	}
	serverObject struct {
		Schema int    `json:"schema"`
		URL    string `json:"url"`
	}
	signedObject struct {
		Schema int   `json:"schema"`
		Signed int64 `json:"signed"`
	}
	statusObject struct {
		Schema   int              `json:"schema"`
		Rows     []view.StatusRow `json:"rows"`
		Tasks    []eval.Decision  `json:"tasks,omitempty"`
		Clusters []kind.Cluster   `json:"clusters,omitempty"`
	}
	storeObject struct {
		Schema      int          `json:"schema"`
		Dir         string       `json:"dir"`
		Blobs       int64        `json:"blobs"`
		BlobBytes   int64        `json:"blob_bytes"`
		Records     int64        `json:"records"`
		RecordBytes int64        `json:"record_bytes"`
		Served      event.Served `json:"served"`
	}
	transferObject struct {
		Schema    int `json:"schema"`
		Records   int `json:"records"`
		Remaining int `json:"remaining"`
		Stale     int `json:"stale"`
	}
	trustObject struct {
		Schema   int            `json:"schema"`
		Root     string         `json:"root"`
		Backends []user.Trusted `json:"backends"`
	}
	trustedObject struct {
		Schema  int      `json:"schema"`
		Trusted []string `json:"trusted"`
	}
	unpackedObject struct {
		Schema    int   `json:"schema"`
		Records   int   `json:"records"`
		Kept      int   `json:"kept"`
		Foreign   int   `json:"foreign"`
		Blobs     int   `json:"blobs"`
		BlobBytes int64 `json:"blob_bytes"`
	}
	validationObject struct {
		Schema      int       `json:"schema"`
		Valid       bool      `json:"valid"`
		Diagnostics diag.List `json:"diagnostics"`
	}
	variablesObject struct {
		Schema    int        `json:"schema"`
		Variables []variable `json:"variables"`
	}
	variable struct {
		Name        string `json:"name"`
		Type        string `json:"type"`
		Value       string `json:"value"`
		Source      string `json:"source"`
		Description string `json:"description,omitempty"`
	}
	versionObject struct {
		Schema   int    `json:"schema"`
		Version  string `json:"version"`
		Go       string `json:"go"`
		Platform string `json:"platform"`
		built
		Modules map[string]string `json:"modules,omitempty"` // versions by path
	}
)
