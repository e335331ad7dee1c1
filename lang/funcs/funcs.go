// Package funcs is the function library of the configuration language: pure functions as in other HCL
// tools, and a few that read files. Functions must not depend on time, randomness, the network or the
// environment: the same configuration and files must always result in the same values.
//
//	library := funcs.Library(funcs.Files{Dir: "/project"})
//	library["upper"].Call([]cty.Value{cty.StringVal("a")}) // "A"
package funcs

import (
	"maps"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	yaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// Library returns every function; those that read files resolve relative
// paths against files.Dir and report what they read.
func Library(files Files) map[string]function.Function {
	library := Pure()
	maps.Copy(library, files.functions())
	return library
}

// FileFunctions returns the names in Library that are not in Pure.
func FileFunctions() []string { return []string{"dirs", "file", "fileexists", "fileset"} }

// Pure returns the functions whose result depends only on their arguments.
func Pure() map[string]function.Function {
	library := map[string]function.Function{
		// numbers
		"abs":      stdlib.AbsoluteFunc,
		"ceil":     stdlib.CeilFunc,
		"floor":    stdlib.FloorFunc,
		"log":      stdlib.LogFunc,
		"max":      stdlib.MaxFunc,
		"min":      stdlib.MinFunc,
		"parseint": stdlib.ParseIntFunc,
		"pow":      stdlib.PowFunc,
		"signum":   stdlib.SignumFunc,
		"sum":      sumFunc,

		// strings
		"chomp":        stdlib.ChompFunc,
		"endswith":     endsWithFunc,
		"format":       stdlib.FormatFunc,
		"formatlist":   stdlib.FormatListFunc,
		"indent":       stdlib.IndentFunc,
		"join":         stdlib.JoinFunc,
		"lower":        stdlib.LowerFunc,
		"regex":        stdlib.RegexFunc,
		"regexall":     stdlib.RegexAllFunc,
		"regexreplace": stdlib.RegexReplaceFunc,
		"replace":      stdlib.ReplaceFunc,
		"split":        stdlib.SplitFunc,
		"startswith":   startsWithFunc,
		"strcontains":  containsTextFunc,
		"strlen":       stdlib.StrlenFunc,
		"strrev":       stdlib.ReverseFunc,
		"substr":       stdlib.SubstrFunc,
		"title":        stdlib.TitleFunc,
		"trim":         stdlib.TrimFunc,
		"trimprefix":   stdlib.TrimPrefixFunc,
		"trimspace":    stdlib.TrimSpaceFunc,
		"trimsuffix":   stdlib.TrimSuffixFunc,
		"upper":        stdlib.UpperFunc,

		// collections
		"alltrue":         allTrueFunc,
		"anytrue":         anyTrueFunc,
		"chunklist":       stdlib.ChunklistFunc,
		"coalesce":        stdlib.CoalesceFunc,
		"coalescelist":    stdlib.CoalesceListFunc,
		"compact":         stdlib.CompactFunc,
		"concat":          stdlib.ConcatFunc,
		"contains":        stdlib.ContainsFunc,
		"distinct":        stdlib.DistinctFunc,
		"element":         stdlib.ElementFunc,
		"flatten":         stdlib.FlattenFunc,
		"index":           stdlib.IndexFunc,
		"keys":            stdlib.KeysFunc,
		"length":          lengthFunc,
		"lookup":          stdlib.LookupFunc,
		"merge":           stdlib.MergeFunc,
		"one":             oneFunc,
		"range":           stdlib.RangeFunc,
		"reverse":         stdlib.ReverseListFunc,
		"setintersection": stdlib.SetIntersectionFunc,
		"setproduct":      stdlib.SetProductFunc,
		"setsubtract":     stdlib.SetSubtractFunc,
		"setunion":        stdlib.SetUnionFunc,
		"slice":           stdlib.SliceFunc,
		"sort":            stdlib.SortFunc,
		"values":          stdlib.ValuesFunc,
		"zipmap":          stdlib.ZipmapFunc,

		// encodings
		"base64decode": base64DecodeFunc,
		"base64encode": base64EncodeFunc,
		"csvdecode":    stdlib.CSVDecodeFunc,
		"jsondecode":   stdlib.JSONDecodeFunc,
		"jsonencode":   stdlib.JSONEncodeFunc,
		"sha256":       sha256Func,
		"urlencode":    urlEncodeFunc,
		"yamldecode":   yamlDecodeFunc,
		"yamlencode":   yaml.YAMLEncodeFunc.WithNewDescriptions("YAML of a value.", []string{""}),

		// paths, without looking at the disk
		"basename": baseNameFunc,
		"dirname":  dirNameFunc,

		// types and failures
		"can":      tryfunc.CanFunc.WithNewDescriptions("Whether an expression has a value.", []string{""}),
		"tobool":   stdlib.MakeToFunc(cty.Bool),
		"tolist":   stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"tomap":    stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
		"tonumber": stdlib.MakeToFunc(cty.Number),
		"toset":    stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tostring": stdlib.MakeToFunc(cty.String),
		"try":      tryfunc.TryFunc.WithNewDescriptions("Value of the first expression that has one.", []string{""}),
	}
	for name, check := range bounded {
		library[name] = within(library[name], check)
	}
	return library
}
