package pages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/page"
)

// Limits of a tree in a page: a submission can have files of any number and size.
const (
	mostText   = 128 << 10 // size of a file
	mostInTree = 512 << 10 // size of all files
	mostInDir  = 200       // files
	mostWalked = 20_000    // visited entries
	mostTrees  = 16        // trees kept in memory
)

// sources returns the trees that each checkpoint of a cell was judged on.
func (n *nodes) sources(cell *report.Cell) []page.Trees {
	all := make([]page.Trees, len(cell.Checkpoints))
	for i := range cell.Checkpoints {
		name := cell.Checkpoints[i].Name
		for _, addr := range plan.ResultCell(cell).At(name).GradedAt() {
			if n.linked[addr] != nil {
				all[i] = page.Trees{Submission: n.treesBelow(addr, plan.KindSubmission, name), Tests: n.treesBelow(addr, plan.KindTests, name)}
				break
			}
		}
	}
	return all
}

// treesBelow returns the trees that a node got from nodes of a kind, as an id of trees, without those of other
// checkpoints.
func (n *nodes) treesBelow(addr, kind, checkpoint string) string {
	var found []string
	seen, open := map[string]bool{addr: true}, []string{addr}
	for len(open) > 0 && len(seen) < mostWalked {
		node := n.linked[open[0]]
		open = open[1:]
		if node == nil {
			continue
		}
		if node.Kind == kind && !slices.ContainsFunc(node.Labels, func(l graph.Label) bool { return l.Name == "checkpoint" && l.Value != checkpoint }) {
			for _, o := range node.Outputs {
				if o.Tree && !slices.Contains(found, o.Digest.String()) {
					found = append(found, o.Digest.String())
				}
			}
		}
		for _, dep := range node.deps {
			if !seen[dep] {
				seen[dep] = true
				open = append(open, dep)
			}
		}
	}
	return strings.Join(found, " ")
}

// tree reads trees as one, or returns nil if the store lacks some of them.
func (n *nodes) tree(ctx context.Context, id string) (*page.Tree, error) {
	if known, ok := n.trees[id]; ok {
		return known, nil
	}
	tree, err := readTree(ctx, n.source.Store, id)
	if err != nil && !cache.IsLost(err) {
		return nil, exit.With(exit.NotJudged, err)
	}
	if len(n.trees) == mostTrees {
		clear(n.trees)
	}
	n.trees[id] = tree
	return tree, nil
}

func readTree(ctx context.Context, store cache.Store, id string) (*page.Tree, error) {
	tree, size, walked := &page.Tree{Files: []page.File{}}, int64(0), 0
	add := func(e cache.Entry) error {
		if walked++; walked > mostWalked {
			return fs.SkipAll
		}
		if e.Dir {
			return nil
		}
		if len(tree.Files) == mostInDir {
			tree.More++
			return nil
		}
		f := page.File{Path: e.Path}
		switch {
		case e.Link != "":
			f.Note = "a link to " + e.Link
		case e.Digest.Size > mostText:
			f.Note = fmt.Sprintf("%d bytes, too large to show", e.Digest.Size)
		case size+e.Digest.Size > mostInTree:
			f.Note = fmt.Sprintf("%d bytes, beyond the limit for all files", e.Digest.Size)
		default:
			content, err := cache.ReadBlob(ctx, store, e.Digest, mostText)
			if err != nil {
				return err
			}
			if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
				f.Note = fmt.Sprintf("%d bytes, not text", len(content))
				break
			}
			f.Text, size = string(content), size+e.Digest.Size
		}
		tree.Files = append(tree.Files, f)
		return nil
	}
	for one := range strings.FieldsSeq(id) {
		root, err := cache.ParseDigest(one)
		if err == nil {
			err = cache.WalkTree(ctx, store, root, add)
		}
		if err != nil && !errors.Is(err, fs.SkipAll) {
			return nil, err
		}
	}
	return tree, nil
}
