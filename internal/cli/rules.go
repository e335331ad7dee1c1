package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Reach says how far a command goes in what a project names: programs to execute, and servers to
// talk to.
type Reach string

const (
	ReachNothing Reach = "nothing"
	ReachTrusted Reach = "what is trusted"        // what a person trusted the project with
	ReachProject Reach = "what the project names" // whatever the project names, and trusts it with that
)

// Rule says what a command may do for a project that could come from anybody.
type Rule struct {
	Executes, Contacts Reach
	// Writes says where, beside the user's own state and the store.
	Writes string
}

// Where commands write.
const (
	WritesNothing = "nothing"
	WritesState   = "`.fevalgraph`"
	WritesProject = "the project"
	WritesNamed   = "files that the caller names"
	WritesTemp    = "temporary files"
)

// Rules has the rule of each command, by its name after fevalgraph, and of a flag that makes another one
// of it. Commands get their rights from
// it: one whose Executes is not ReachProject executes and contacts for a project only what the
// project is trusted with, whatever it does beside.
var Rules = map[string]Rule{
	"":                     {ReachProject, ReachProject, WritesProject},
	"run":                  {ReachProject, ReachProject, WritesProject},
	"watch":                {ReachProject, ReachProject, WritesProject},
	"eval":                 {ReachProject, ReachProject, WritesState},
	"shell":                {ReachProject, ReachProject, WritesState},
	"lock":                 {ReachProject, ReachProject, WritesProject},
	"cache audit":          {ReachProject, ReachProject, WritesState},
	"validate --reference": {ReachProject, ReachProject, WritesState},
	"merge":                {ReachTrusted, ReachTrusted, WritesProject},
	"cache pull":           {ReachTrusted, ReachTrusted, WritesState},
	"cache push":           {ReachTrusted, ReachTrusted, WritesState},
	"cache pack":           {ReachTrusted, ReachTrusted, WritesNamed},
	"gen":                  {ReachTrusted, ReachTrusted, WritesProject},
	"plan":                 {ReachTrusted, ReachTrusted, WritesNothing},
	"status":               {ReachTrusted, ReachTrusted, WritesNothing},
	"explain":              {ReachTrusted, ReachTrusted, WritesNothing},
	"results":              {ReachTrusted, ReachTrusted, WritesNamed},
	"compare":              {ReachTrusted, ReachTrusted, WritesNothing},
	"diff":                 {ReachTrusted, ReachTrusted, WritesNothing},
	"report":               {ReachTrusted, ReachTrusted, WritesNamed},
	"graph":                {ReachTrusted, ReachTrusted, WritesNothing},
	"list":                 {ReachTrusted, ReachTrusted, WritesNothing},
	"query":                {ReachTrusted, ReachTrusted, WritesNothing},
	"find":                 {ReachTrusted, ReachTrusted, WritesNothing},
	"get":                  {ReachTrusted, ReachTrusted, WritesNamed},
	"show":                 {ReachTrusted, ReachTrusted, WritesNothing},
	"lsp":                  {ReachTrusted, ReachTrusted, WritesNothing},
	"mcp":                  {ReachTrusted, ReachTrusted, WritesNothing},
	"doctor":               {ReachTrusted, ReachTrusted, WritesNothing},
	"clean":                {ReachNothing, ReachTrusted, WritesState},
	"bundle":               {ReachNothing, ReachTrusted, WritesNamed},
	"log":                  {ReachNothing, ReachTrusted, WritesNothing},
	"cache stats":          {ReachNothing, ReachNothing, WritesNothing},
	"cache gc":             {ReachNothing, ReachNothing, WritesNothing},
	"cache verify":         {ReachNothing, ReachNothing, WritesNothing},
	"cache sign":           {ReachNothing, ReachNothing, WritesNothing},
	"cache unpack":         {ReachNothing, ReachNothing, WritesState},
	"runs":                 {ReachNothing, ReachNothing, WritesNothing},
	"runs prune":           {ReachNothing, ReachNothing, WritesState},
	"verify":               {ReachNothing, ReachNothing, WritesNothing},
	"release":              {ReachNothing, ReachNothing, WritesTemp},
	"console":              {ReachNothing, ReachNothing, WritesNothing},
	"variables":            {ReachNothing, ReachNothing, WritesNothing},
	"schema":               {ReachNothing, ReachNothing, WritesNothing},
	"fmt":                  {ReachNothing, ReachNothing, WritesProject},
	"init":                 {ReachNothing, ReachNothing, WritesProject},
	"trust":                {ReachNothing, ReachNothing, WritesNothing},
	"keygen":               {ReachNothing, ReachNothing, WritesNamed},
	"completion":           {ReachNothing, ReachNothing, WritesNothing},
	"validate":             {ReachNothing, ReachNothing, WritesNothing},
	"version":              {ReachNothing, ReachNothing, WritesNothing},
}

// notOfProjects lists the commands that are about no project: servers that execute what their client
// says, and help.
var notOfProjects = []string{"worker", "action", "cache", "help"}

// ruleOf finds the rule of a command as it was called. One that has none may do nothing.
func ruleOf(cmd *cobra.Command) Rule {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	rule, ok := Rules[path]
	if !ok {
		rule = Rule{ReachNothing, ReachNothing, WritesNothing}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if other, ok := Rules[path+" --"+f.Name]; ok {
			rule = other
		}
	})
	return rule
}
