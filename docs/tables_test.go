package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fevalgraph/fevalgraph/compat"
	"github.com/fevalgraph/fevalgraph/internal/cli"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// A comment in a page requests the table right below it:
//
//	<!-- attributes: suite.matrix -->   attributes of a block of the language
//	<!-- blocks: suite -->              blocks nested in one
//	<!-- flags: run -->                 flags of a command; "*" means all commands
//	<!-- flags: plan beyond run -->     only rows that the other table lacks
var tableMark = regexp.MustCompile(`^<!-- (attributes|blocks|flags): (.*) -->$`)

func TestTables(t *testing.T) {
	schema, tree := schemaTables(), commandTables()
	missing := map[string]bool{}
	for name := range schema {
		missing[name] = true
	}
	for name := range tree {
		missing[name] = true
	}
	for _, p := range pages(t) {
		changed := false
		for i := 0; i < len(p.lines); i++ {
			m := tableMark.FindStringSubmatch(p.lines[i])
			if m == nil {
				continue
			}
			want, first := []string(nil), true
			subjects, other, _ := strings.Cut(m[2], " beyond ")
			known := append(schema[m[1]+": "+other], tree[m[1]+": "+other]...)
			if other != "" && known == nil {
				t.Errorf("%s:%d: there is no %q", p.path, i+1, other)
			}
			for _, subject := range strings.Fields(subjects) {
				name := m[1] + ": " + subject
				table := append(schema[name], tree[name]...)
				if len(known) > 2 { // a head and rows
					table = slices.DeleteFunc(slices.Clone(table), func(row string) bool { return slices.Contains(known[2:], row) })
					if len(table) == 2 {
						table = table[:0]
					}
				}
				switch {
				case table == nil:
					t.Errorf("%s:%d: there is no %q", p.path, i+1, name)
				case !first && !slices.Equal(table, want):
					t.Errorf("%s:%d: %q differs from the text before it", p.path, i+1, name)
				}
				want, first = table, false
				delete(missing, name)
			}
			end := i + 1
			for end < len(p.lines) && strings.HasPrefix(p.lines[end], "|") {
				end++
			}
			if slices.Equal(p.lines[i+1:end], want) {
				continue
			}
			if !*update {
				t.Errorf("%s:%d: the table is out of date; `go test ./docs -update` rewrites it", p.path, i+1)
				continue
			}
			p.lines, changed = slices.Concat(p.lines[:i+1], want, p.lines[end:]), true
		}
		if changed {
			p.save(t)
		}
	}
	for name := range missing {
		t.Errorf("no page has a table for <!-- %s -->", name)
	}
}

// schemaTables returns tables from the output of `fevalgraph schema`, by the comment that requests them.
func schemaTables() map[string][]string {
	tables := map[string][]string{}
	var walk func(path string, s lang.BlockSchema)
	walk = func(path string, s lang.BlockSchema) {
		if len(s.Attributes) > 0 {
			tables["attributes: "+path] = attributeTable(s.Attributes)
		}
		if len(s.Blocks) > 0 {
			tables["blocks: "+path] = blockTable(s.Blocks)
		}
		for _, inner := range slices.Concat(s.Blocks, s.Kinds) {
			walk(path+"."+inner.Name, inner)
		}
	}
	for _, s := range lang.Describe(plan.WithBenchmarks(lang.Options{Extensions: extensions}, compat.Benchmarks())).Blocks {
		walk(s.Name, s)
	}
	return tables
}

func attributeTable(attributes []lang.AttributeSchema) []string {
	rows := []string{"| Attribute | Type, default | Meaning |", "| --- | --- | --- |"}
	for _, a := range attributes {
		value := string(a.Type)
		switch {
		case a.Required:
			value += ", required"
		case a.Default != "":
			value += ", `" + strings.Join(strings.Fields(a.Default), " ") + "`"
		}
		meaning := a.Doc
		if len(a.Values) > 0 {
			meaning += " One of `" + strings.Join(a.Values, "`, `") + "`."
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", a.Name, value, cell(meaning)))
	}
	return rows
}

func blockTable(blocks []lang.BlockSchema) []string {
	rows := []string{"| Block | How often | Meaning |", "| --- | --- | --- |"}
	for _, b := range blocks {
		often := map[[2]bool]string{
			{false, false}: "optional", {false, true}: "once", {true, false}: "any number", {true, true}: "at least once",
		}[[2]bool{b.Repeats, b.Required}]
		title := b.Name
		for _, label := range b.Labels {
			title += ` "` + strings.ToUpper(label) + `"`
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", title, often, cell(b.Doc)))
	}
	return rows
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// commandTables returns the flags of every command.
func commandTables() map[string][]string {
	tables := map[string][]string{}
	root := cli.Commands(compat.Benchmarks())
	tables["flags: *"] = flagTable(root.PersistentFlags())
	walkCommands(root, func(path string, c *cobra.Command) {
		flags := c.LocalNonPersistentFlags()
		if c != root && flags.HasFlags() {
			tables["flags: "+strings.ReplaceAll(path, " ", "/")] = flagTable(flags)
		}
	})
	return tables
}

// walkCommands visits every command with its name: "run", "cache gc".
func walkCommands(root *cobra.Command, visit func(path string, c *cobra.Command)) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		visit(strings.TrimPrefix(c.CommandPath(), root.Name()+" "), c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

func flagTable(flags *pflag.FlagSet) []string {
	rows := []string{"| Flag | Meaning |", "| --- | --- |"}
	flags.VisitAll(func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		shown := "`--" + f.Name
		if value != "" {
			shown += " " + strings.ToUpper(value)
		}
		shown += "`"
		if f.Shorthand != "" {
			shown = "`-" + f.Shorthand + "`, " + shown
		}
		switch f.DefValue {
		case "", "false", "0", "[]":
		default:
			usage += "; default `" + f.DefValue + "`"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s |", shown, cell(usage)))
	})
	return rows
}

// Each command has a page with its usage, and each page of a command has a command.
func TestCommandPages(t *testing.T) {
	root := cli.Commands(compat.Benchmarks())
	want := map[string]bool{"README.md": true}
	for _, c := range root.Commands() {
		want[c.Name()+".md"] = true
	}
	have := map[string]bool{}
	for _, p := range pages(t) {
		name, ok := strings.CutPrefix(p.path, "commands/")
		if !ok {
			continue
		}
		have[name] = true
		if !want[name] {
			t.Errorf("%s: no such command", p.path)
		}
	}
	for name := range want {
		if !have[name] {
			t.Errorf("page commands/%s not found", name)
		}
	}
	walkCommands(root, func(path string, c *cobra.Command) {
		if c == root {
			return
		}
		page := "commands/" + strings.Fields(path)[0] + ".md"
		if usage := "fevalgraph " + strings.TrimSuffix(path, c.Name()) + c.Use; have[strings.Fields(path)[0]+".md"] && !strings.Contains(readPage(t, page).text(), usage) {
			t.Errorf("%s does not show %q", page, usage)
		}
	})
}
