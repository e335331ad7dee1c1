package lang

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/fevalgraph/fevalgraph/internal/frozen"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// configText returns a Config as lines "path = value", without ranges. Paths contain names, never indices, so sorted
// lines do not depend on order.
func configText(c *Config, dir string) string {
	var lines []string
	dump(&lines, "", reflect.ValueOf(c).Elem(), 0)
	return strings.ReplaceAll(strings.Join(lines, "\n")+"\n", dir, "$DIR")
}

func dump(lines *[]string, at string, v reflect.Value, depth int) {
	switch x := v.Interface().(type) {
	case diag.Range:
		return
	case *Expr:
		if x != nil {
			*lines = append(*lines, fmt.Sprintf("%s = %q", at, x.Source()))
		}
		return
	case *Problem, *Solution, *Suite, *Backend, *Checkpoint:
		if v.IsNil() {
			return
		}
		if depth > 1 { // a reference to an object that is dumped at its own path
			if _, own := x.(*Checkpoint); !own || strings.HasPrefix(at, "Solutions") {
				*lines = append(*lines, at+" -> "+title(v))
				return
			}
		}
	case Attributes:
		return // dumped with their backend
	case Cell:
		*lines = append(*lines, fmt.Sprintf("%s: %s on %s #%d", at, x.Solution.Ref, x.Backend.Addr(), x.Repeat))
		return
	case EnvVar:
		*lines = append(*lines, fmt.Sprintf("%s: %s=%s secret %q", at, x.Name, x.Value, x.Secret))
		return
	case diag.Diagnostic:
		*lines = append(*lines, fmt.Sprintf("%s: [%s] %s: %s", at, x.Code, x.Context, x.Detail))
		return
	case ConfigInput:
		*lines = append(*lines, fmt.Sprintf("%s: %s %q", at, x.Kind, x.Name))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			dump(lines, at, v.Elem(), depth)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			dump(lines, strings.TrimPrefix(at+"."+v.Type().Field(i).Name, "."), v.Field(i), depth+1)
		}
		if b, ok := v.Interface().(Backend); ok && b.Attributes != "" {
			dump(lines, at+"."+b.Kind, reflect.ValueOf(decodeAttributes(&b)), depth)
		}
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.String:
			*lines = append(*lines, fmt.Sprintf("%s = %q", at, v.Interface()))
			return
		case reflect.Int:
			if v.Len() > 0 {
				*lines = append(*lines, fmt.Sprintf("%s = %v", at, v.Interface()))
			}
			return
		}
		for i := range v.Len() {
			dump(lines, at+"["+title(v.Index(i))+"]", v.Index(i), depth)
		}
	default:
		if !v.IsZero() {
			*lines = append(*lines, fmt.Sprintf("%s = %v", at, v.Interface()))
		}
	}
}

// decodeAttributes decodes the attributes of a backend of any kind.
func decodeAttributes(b *Backend) any {
	for _, k := range testExtensions().backendKinds() {
		if k.Schema.Name == b.Kind {
			v := k.newAttributes()
			if err := frozen.Decode([]byte(b.Attributes), v); err != nil {
				panic(err)
			}
			return v
		}
	}
	return nil
}

func title(v reflect.Value) string {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if in, ok := v.Interface().(ConfigInput); ok {
		return in.Kind
	}
	for _, name := range []string{"Ref", "Name", "Checkpoint"} {
		if f := v.FieldByName(name); f.IsValid() {
			if f.Kind() == reflect.String {
				return f.String()
			}
			return title(f)
		}
	}
	return ""
}

func TestConfig(t *testing.T) {
	for _, file := range cases(t, "testdata/config") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, o := readCase(t, file)
			c, list := Load(o)
			compare(t, file, archive, diagText(list, o.Dir)+configText(c, o.Dir))
			checkRanges(t, "", reflect.ValueOf(c))

			again, _ := Load(o)
			if configText(again, o.Dir) != configText(c, o.Dir) {
				t.Error("a second load gives another configuration")
			}
		})
	}
}

// checkRanges checks that every written attribute has a location.
func checkRanges(t *testing.T, at string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			if _, expr := v.Interface().(*Expr); !expr {
				checkRanges(t, at, v.Elem())
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			checkRanges(t, at, v.Index(i))
		}
	case reflect.Struct:
		if r, ok := v.Interface().(diag.Range); ok {
			if r.File == "" {
				t.Errorf("%s: missing range", at)
			}
			return
		}
		if f := v.FieldByName("Implicit"); f.IsValid() && f.Bool() {
			return
		}
		if s, ok := v.Interface().(Solution); ok && s.Ref == adHocRef {
			return // from the command line
		}
		if b, ok := v.Interface().(Backend); ok && b.Addr() == "local.host" {
			return // can be implicit
		}
		if p, ok := v.Interface().(Pass); ok && p.Policy == defaultPolicy {
			return // can be the default
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				checkRanges(t, at+"."+v.Type().Field(i).Name, v.Field(i))
			}
		}
	}
}

// TestOrderOfBlocks reverses the top-level blocks of every case: the meaning of a configuration must not depend on
// its order.
func TestOrderOfBlocks(t *testing.T) {
	sorted := func(text string) string {
		lines := strings.Split(text, "\n")
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	rewrite := map[string]func(t *testing.T, src []byte) []byte{
		"reversed": func(t *testing.T, src []byte) []byte {
			f, problems := hclsyntax.ParseConfig(src, "", hcl.InitialPos)
			if problems.HasErrors() {
				t.Fatal(problems)
			}
			var parts []string
			for _, b := range f.Body.(*hclsyntax.Body).Blocks {
				parts = append(parts, string(b.Range().SliceBytes(src)[:0])+string(src[b.TypeRange.Start.Byte:b.CloseBraceRange.End.Byte]))
			}
			slices.Reverse(parts)
			return []byte(strings.Join(parts, "\n") + "\n")
		},
		"commented": func(t *testing.T, src []byte) []byte {
			text := strings.ReplaceAll(string(src), " {\n", "   { # a remark\n\n")
			return []byte("/* first */\n" + strings.ReplaceAll(text, " = ", "\t =   /* value */ "))
		},
		"formatted": func(t *testing.T, src []byte) []byte {
			out, list := Format("x", src)
			if len(list) > 0 {
				t.Fatal(list)
			}
			return out
		},
	}
	for _, file := range cases(t, "testdata/config") {
		for name, change := range rewrite {
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
				archive, o := readCase(t, file)
				c, _ := Load(o)
				for _, f := range archive.Files {
					if strings.HasSuffix(f.Name, "fevalgraph.hcl") || strings.HasSuffix(f.Name, ".feval.hcl") {
						write(t, filepath.Join(o.Dir, f.Name), change(t, f.Data))
					}
				}
				other, list := Load(o)
				if list.HasErrors() {
					t.Fatal(diagText(list, o.Dir))
				}
				if got, want := sorted(configText(other, o.Dir)), sorted(configText(c, o.Dir)); got != want {
					t.Errorf("%s:\n%s\noriginal:\n%s", name, got, want)
				}
			})
		}
	}
}
