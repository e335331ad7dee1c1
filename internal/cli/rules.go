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
	writesNothing = "nothing"
	writesState   = "`.fevalgraph`"
	writesProject = "the project"
	writesNamed   = "files that the caller names"
)

// Rules has the rule of each command, by its name after fevalgraph, and of a flag that makes another one
// of it. Commands get their rights from
// it: one whose Executes is not ReachProject executes and contacts for a project only what the
// project is trusted with, whatever it does beside.
var Rules = map[string]Rule{
	"":                     {ReachProject, ReachProject, writesProject},
	"run":                  {ReachProject, ReachProject, writesProject},
	"watch":                {ReachProject, ReachProject, writesProject},
	"eval":                 {ReachProject, ReachProject, writesState},
	"shell":                {ReachProject, ReachProject, writesState},
	"lock":                 {ReachProject, ReachProject, writesProject},
	"cache audit":          {ReachProject, ReachProject, writesState},
	"validate --reference": {ReachProject, ReachProject, writesState},
	"merge":                {ReachTrusted, ReachTrusted, writesProject},
	"cache pull":           {ReachTrusted, ReachTrusted, writesState},
	"cache push":           {ReachTrusted, ReachTrusted, writesState},
	"cache pack":           {ReachTrusted, ReachTrusted, writesNamed},
	"gen":                  {ReachTrusted, ReachTrusted, writesProject},
	"plan":                 {ReachTrusted, ReachTrusted, writesNothing},
	"status":               {ReachTrusted, ReachTrusted, writesNothing},
	"explain":              {ReachTrusted, ReachTrusted, writesNothing},
	"results":              {ReachTrusted, ReachTrusted, writesNamed},
	"compare":              {ReachTrusted, ReachTrusted, writesNothing},
	"diff":                 {ReachTrusted, ReachTrusted, writesNothing},
	"report":               {ReachTrusted, ReachTrusted, writesNamed},
	"graph":                {ReachTrusted, ReachTrusted, writesNothing},
	"list":                 {ReachTrusted, ReachTrusted, writesNothing},
	"show":                 {ReachTrusted, ReachTrusted, writesNothing},
	"lsp":                  {ReachTrusted, ReachTrusted, writesNothing},
	"doctor":               {ReachTrusted, ReachTrusted, writesNothing},
	"clean":                {ReachNothing, ReachTrusted, writesState},
	"bundle":               {ReachNothing, ReachTrusted, writesNamed},
	"log":                  {ReachNothing, ReachTrusted, writesNothing},
	"cache stats":          {ReachNothing, ReachNothing, writesNothing},
	"cache gc":             {ReachNothing, ReachNothing, writesNothing},
	"cache verify":         {ReachNothing, ReachNothing, writesNothing},
	"cache sign":           {ReachNothing, ReachNothing, writesNothing},
	"cache unpack":         {ReachNothing, ReachNothing, writesState},
	"runs":                 {ReachNothing, ReachNothing, writesNothing},
	"runs prune":           {ReachNothing, ReachNothing, writesState},
	"verify":               {ReachNothing, ReachNothing, writesNothing},
	"console":              {ReachNothing, ReachNothing, writesNothing},
	"variables":            {ReachNothing, ReachNothing, writesNothing},
	"schema":               {ReachNothing, ReachNothing, writesNothing},
	"fmt":                  {ReachNothing, ReachNothing, writesProject},
	"init":                 {ReachNothing, ReachNothing, writesProject},
	"trust":                {ReachNothing, ReachNothing, writesNothing},
	"keygen":               {ReachNothing, ReachNothing, writesNamed},
	"completion":           {ReachNothing, ReachNothing, writesNothing},
	"validate":             {ReachNothing, ReachNothing, writesNothing},
	"version":              {ReachNothing, ReachNothing, writesNothing},
}

// notOfProjects lists the commands that are about no project: servers that execute what their client
// says, and help.
var notOfProjects = []string{"worker", "action", "cache", "help"}

// ruleOf finds the rule of a command as it was called. One that has none may do nothing.
func ruleOf(cmd *cobra.Command) Rule {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	rule, ok := Rules[path]
	if !ok {
		rule = Rule{ReachNothing, ReachNothing, writesNothing}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if other, ok := Rules[path+" --"+f.Name]; ok {
			rule = other
		}
	})
	return rule
}
