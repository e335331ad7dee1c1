package kind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Declared returns an executor that is derived from a block. It runs nothing and contacts no server: an image
// is identified by its name, an interpreter by the requested version. attributes are
// lang.Extensions.Attributes. shown can be nil; see backend.Capabilities.
func Declared(b *lang.Backend, attributes any, shown func(lines, values []string) []backend.Shown) plan.Executor {
	d := declared{b: b, identity: identityOf(b, attributes), shown: shown}
	e := plan.Executor{}
	if b.Judges {
		e.Sandbox = declaredSandbox(d)
	}
	if b.Commands {
		e.Backend = d
	}
	return e
}

var errDeclared = errors.New("the backend is only declared, and cannot run anything")

type declared struct {
	b        *lang.Backend
	identity backend.Identity
	shown    func(lines, values []string) []backend.Shown
}

func (d declared) Network() backend.Network { return backend.PrivateNetwork }

func (d declared) Identity(context.Context) (backend.Identity, error) { return d.identity, nil }

func (d declared) Prepare(context.Context, string, backend.Command) (string, backend.Exit, error) {
	return "", backend.Exit{}, errDeclared
}

func (d declared) Open(context.Context, backend.Spec) (backend.Session, error) {
	return nil, errDeclared
}

func (d declared) Capabilities() backend.Capabilities {
	can := backend.Capabilities{Python: d, BareIdentity: d.Identity, Shown: d.shown}
	if d.b.Container != nil {
		can.OwnFiles, can.Images = true, declaredImages{}
	}
	return can
}

func (d declared) Interpreter(context.Context) (path, version string, err error) {
	return "python", d.b.Python, nil
}

func (d declared) Platform(context.Context) (string, error) { return "", nil }

type declaredImages struct{}

func (declaredImages) Ingredients(context.Context, []byte) (backend.Identity, error) { return nil, nil }

func (declaredImages) Build(context.Context, backend.Recipe, io.Writer) ([]byte, error) {
	return nil, errDeclared
}

func (declaredImages) Find(context.Context, cache.Digest) (bool, error) { return true, nil }

type declaredSandbox declared

func (d declaredSandbox) Identity(context.Context) (backend.Identity, error) {
	return d.identity, nil
}

func (d declaredSandbox) Run(context.Context, ...backend.Program) ([]backend.Ending, error) {
	return nil, errDeclared
}

// identityOf has a field for each setting of a block, except settings that tasks contain themselves or that do
// not change verdicts.
func identityOf(b *lang.Backend, attributes any) backend.Identity {
	id := backend.Identity{{Label: "kind", Value: b.Kind}, {Label: "python", Value: b.Python}}
	var add func(v reflect.Value, at string)
	add = func(v reflect.Value, at string) {
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return
			}
			v = v.Elem()
		}
		switch {
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.Tag.Get("keys") != "-" {
					add(v.Field(i), strings.TrimPrefix(at+"."+strings.ToLower(f.Name), "."))
				}
			}
		case v.Kind() != reflect.Map && !v.IsZero():
			id = append(id, backend.Field{Label: at, Value: fmt.Sprintf("%v", v.Interface())})
		}
	}
	add(reflect.ValueOf(b.Container), "container")
	add(reflect.ValueOf(b.Machines), "machines")
	add(reflect.ValueOf(attributes), b.Kind)
	return id
}
