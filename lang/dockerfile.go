package lang

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// dockerImage reads the image of a docker backend: the name of an image, or how to build it.
func (b *block) dockerImage() (name string, build *ImageBuild) {
	name, image := b.text("image")
	path, dockerfile := b.path("dockerfile")
	switch {
	case image == isFailed || dockerfile == isFailed:
		return "", nil
	case image == isSet && dockerfile == isSet:
		b.reject("dockerfile", "conflict", "Invalid combination of attributes", "A docker backend has exactly one of image and dockerfile.", "remove one of them; the base image of a Dockerfile is in its FROM")
		return "", nil
	case dockerfile == isSet:
		return "", b.imageBuild(path)
	case image != isSet:
		b.fail(finding{
			code: "missing-attribute", summary: "Missing attribute", rng: b.header,
			detail: "A docker backend has exactly one of image and dockerfile.",
			hint:   `write image = "python:3.12-slim", or dockerfile = "path/Dockerfile"`,
		})
		return "", nil
	}
	if _, g := b.text("context"); g == isSet {
		b.nothingToBuild("context")
	}
	if _, g := b.marked(b.schemaOf("build_args", TypeMap)); g == isSet {
		b.nothingToBuild("build_args")
	}
	return name, nil
}

func (b *block) nothingToBuild(name string) {
	b.reject(name, "conflict", "Nothing to build", name+" applies only to images that are built from a dockerfile.", "write dockerfile instead of image, or remove "+name)
}

func (b *block) imageBuild(dockerfile string) *ImageBuild {
	build := &ImageBuild{Dockerfile: dockerfile, Context: filepath.Dir(dockerfile)}
	if info, ok := b.stat("dockerfile", dockerfile, ""); ok && info.IsDir() {
		b.reject("dockerfile", "bad-path", "Not a file", fmt.Sprintf("%q is a directory.", b.l.show(dockerfile)), "write the path of the Dockerfile in it")
	}
	if context, g := b.path("context"); g == isSet {
		if info, ok := b.stat("context", context, ""); ok && !info.IsDir() {
			b.reject("context", "bad-path", "Not a directory", fmt.Sprintf("%q is not a directory.", b.l.show(context)), "")
		}
		build.Context = context
	}
	build.Args = b.buildArgs("build_args")
	return build
}

// buildArgs reads a map of arguments, sorted by name.
func (b *block) buildArgs(name string) []BuildArg {
	a := b.schemaOf(name, TypeMap)
	v, g := b.marked(a)
	if g != isSet {
		return nil
	}
	plain, marks := v.UnmarkDeep()
	if secret := secretName(marks); secret != "" {
		b.reject(name, "sensitive-value", "Sensitive value", fmt.Sprintf("%s would leave the sensitive value %q readable in the image.", name, secret),
			"pass it at run time, through env; fetch content that needs a secret before the build")
		return nil
	}
	texts, err := convert.Convert(plain, cty.Map(cty.String))
	if err != nil {
		b.wrongType(name, "a map of strings", plain.Type())
		return nil
	}
	var args []BuildArg
	for it := texts.ElementIterator(); it.Next(); {
		key, value := it.Element()
		switch {
		case value.IsNull():
			b.reject(name, "wrong-type", "Wrong type", fmt.Sprintf("%s.%s is null.", name, key.AsString()), `write "" for an empty value`)
			return nil
		case !envName().MatchString(key.AsString()):
			b.reject(name, "bad-name", "Bad name", fmt.Sprintf("%q is not a valid name of an argument.", key.AsString()), "letters, digits and \"_\", not beginning with a digit")
			return nil
		case strings.ContainsRune(value.AsString(), 0):
			b.reject(name, "bad-value", "Bad value", fmt.Sprintf("%s.%s contains a NUL.", name, key.AsString()), "")
			return nil
		}
		args = append(args, BuildArg{Name: key.AsString(), Value: value.AsString()})
	}
	return args
}
