package describe

import (
	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/lang"
)

// GotObject is the JSON of get.
type GotObject struct {
	Schema  int         `json:"schema"`
	Addr    string      `json:"addr"`
	Outputs []GotOutput `json:"outputs"`
}

// GotOutput is a written output.
type GotOutput struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Kind   string `json:"kind"` // file or tree
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"`
}

// GotObjectOf returns the JSON object of written outputs.
func GotObjectOf(g *eval.Got) GotObject {
	object := GotObject{Schema: 1, Addr: g.Addr}
	for _, o := range g.Products {
		kind := lang.OutputTree
		if o.IsFile() {
			kind = lang.OutputFile
		}
		object.Outputs = append(object.Outputs, GotOutput{o.Name, o.Path, kind, o.Files, o.Bytes, o.Digest.String()})
	}
	return object
}

// Got returns the rows of a table of outputs.
func Got(g *eval.Got) (rows [][]string) {
	for _, o := range g.Products {
		rows = append(rows, []string{o.Name, o.Path, ProductSize(o)})
	}
	return rows
}
