package lang

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

var countShape = cty.Object(map[string]cty.Type{"passed": cty.Number, "total": cty.Number})

// groupShapes adds the counts of tests that both kinds of self have.
func groupShapes(more map[string]cty.Type) cty.Type {
	for _, name := range []string{"total", "core", "functionality", "regression", "error"} {
		more[name] = countShape
	}
	return cty.Object(more)
}

var summaryShape = cty.Object(map[string]cty.Type{"n": cty.Number, "mean": cty.Number, "min": cty.Number, "max": cty.Number})

// CheckpointShape is the type of self in the condition of a pass block.
var CheckpointShape = groupShapes(map[string]cty.Type{
	"name": cty.String, "passed": cty.Bool, "class": cty.String, "collected": cty.Number, "exit_code": cty.Number,
	"score": cty.Number, "score_unbounded": cty.Number,
})

// CellsShape is the type of self in metrics and in where of a result block, except that checkpoints are a
// tuple and labels an object there.
var CellsShape = groupShapes(map[string]cty.Type{
	"checkpoints": cty.List(CheckpointShape), "labels": cty.Map(cty.String),
	"problem": cty.String, "solution": cty.String, "backend": cty.String,
	"cells": cty.Number, "solved": cty.Number, "scored": cty.Number, "not_finite": cty.Number,
	"cells_success": cty.Number, "cells_error": cty.Number, "cells_timeout": cty.Number, "cells_skipped": cty.Number, "cells_broken": cty.Number,
	"score": cty.Number, "score_unbounded": cty.Number, "scored_mean": cty.Number, "scored_mean_unbounded": cty.Number,
	"bounded": summaryShape, "unbounded": summaryShape, "figures": cty.Map(cty.Number),
})

// ScopeKeys returns the names that can follow a reference into the scope besides the declarations: "path",
// "each", or, if the row of an attribute has them, "checkpoint", "cell" and "self". block is the name of the
// attribute's block.
func ScopeKeys(reference, block, scope string) []string {
	root, rest, _ := strings.Cut(reference, ".")
	var shape cty.Type
	switch {
	case reference == "each":
		return []string{"key", "value"}
	case reference == "path":
		return []string{"module", "root"}
	case root != scope:
		return nil
	case reference == "checkpoint":
		return keysOf(checkpointValue(&Checkpoint{}))
	case reference == "cell":
		return []string{"backend", "problem", "repeat", "solution"}
	case root == "self" && block == "pass":
		shape = CheckpointShape
	case root == "self":
		shape = CellsShape
	}
	for rest != "" && shape != cty.NilType {
		var name string
		if name, rest, _ = strings.Cut(rest, "."); !shape.IsObjectType() || !shape.HasAttribute(name) {
			return nil
		}
		shape = shape.AttributeType(name)
	}
	if shape == cty.NilType || !shape.IsObjectType() {
		return nil
	}
	return slices.Sorted(maps.Keys(shape.AttributeTypes()))
}

// checkSelf evaluates an expression over the shape of self, so that a mistyped name is reported before any
// node runs.
func (b *block) checkSelf(name string, e *Expr, shape cty.Type, condition bool) bool {
	b.l.calling.Lock()
	defer b.l.calling.Unlock()
	ctx := e.ctx.NewChild()
	ctx.Variables = map[string]cty.Value{"self": cty.UnknownVal(shape)}
	v, problems := e.expr.Value(ctx)
	for _, p := range problems {
		if p.Expression == nil {
			p.Expression, p.EvalContext = e.expr, ctx
		}
		if p.Severity == hcl.DiagError {
			b.fail(fromHCL(p, ""))
			return false
		}
	}
	if v, _ := v.Unmark(); condition && v.Type() != cty.Bool && v.Type() != cty.DynamicPseudoType {
		b.wrongType(name, "true or false", v.Type())
		return false
	}
	return true
}
