package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Reach limits which programs and servers that a project names a command can use.
type Reach string

const (
	ReachNothing Reach = "nothing"
	ReachTrusted Reach = "what is trusted"        // what the user trusts the project with
	ReachProject Reach = "what the project names" // everything that the project names, which the command then trusts
)

// Rule limits what a command can do in a project from an unknown source.
type Rule struct {
	Executes, Contacts Reach
	// Writes lists the places that the command writes to, besides the user's own state and the store.
	Writes string
}

// Values of Rule.Writes.
const (
	WritesNothing = "nothing"
	WritesState   = "`.fevalgraph`"
	WritesProject = "the project"
	WritesNamed   = "files that the caller names"
	WritesTemp    = "temporary files"
)

// Rules maps commands, by their name after fevalgraph, to their rules; a flag that changes a command's rule has
// an entry with it. Commands get their permissions from it: if Executes is not ReachProject, the command
// executes and contacts for a project only what the project is trusted with.
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
	"lsp":                  {ReachNothing, ReachNothing, WritesNothing},
	"mcp":                  {ReachProject, ReachProject, WritesProject}, // its tool run
	"doctor":               {ReachTrusted, ReachTrusted, WritesTemp},
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

// notOfProjects lists commands that do not work on a project: servers, which execute what their client
// requests, and help.
var notOfProjects = []string{"worker", "action", "cache", "help"}

// ruleOf returns the rule of a command as called. A command without a rule has no permissions.
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
