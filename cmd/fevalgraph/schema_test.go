package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/fevalgraph/fevalgraph/internal/cli"
)

// schemaVariable names the directory of the schemas that the JSON of scripts has to follow.
const schemaVariable = "FEVALGRAPH_TEST_SCHEMA"

// checkedMain replaces main in scripts. It fails when a command prints JSON that docs/schema does not describe.
func checkedMain() {
	dir := os.Getenv(schemaVariable)
	if dir == "" || !slices.ContainsFunc(os.Args, func(arg string) bool { return strings.Contains(arg, "json") }) {
		main()
		return
	}
	findToolsBeside()
	var out bytes.Buffer
	w := world()
	w.Out = io.MultiWriter(os.Stdout, &out)
	code := cli.Main(os.Args[1:], w)
	if err := checkPrinted(dir, os.Args[1:], out.Bytes()); err != nil {
		fmt.Fprintf(os.Stderr, "what is printed does not follow docs/schema: %v\n", err)
		code = 99
	}
	os.Exit(code)
}

// checkPrinted checks the objects that a command printed, if it printed any.
func checkPrinted(dir string, args []string, out []byte) error {
	if !bytes.HasPrefix(out, []byte("{")) {
		return nil
	}
	root := cli.Commands(nil)
	cmd, _, err := root.Find(args)
	if err != nil {
		return err
	}
	command := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), root.Name()), " ")
	if command == "" {
		command = "run"
	}
	schema, err := readSchema(filepath.Join(dir, cli.SchemaName(command)+".json"))
	if err != nil {
		return err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var object any
		if err := d.Decode(&object); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
		if err := schema.Validate(object); err != nil {
			text, _ := json.Marshal(object)
			return fmt.Errorf("%s: %w\n%s", command, err, text)
		}
	}
}

// readSchema reads a schema of docs/schema and makes it strict: fields that later versions may add are errors in this
// one.
func readSchema(file string) (*jsonschema.Resolved, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	restrict(&s)
	return s.Resolve(nil)
}

func restrict(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Properties) > 0 {
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	}
	for _, p := range s.Properties {
		restrict(p)
	}
	for _, one := range s.AnyOf {
		restrict(one)
	}
	restrict(s.Items)
}

// The check of output of scripts must find errors.
func TestSchemaFindsMistakes(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "schema")
	const sound = `{"schema": 1, "file": "f", "public": "p"}`
	if err := checkPrinted(dir, []string{"keygen", "--json"}, []byte(sound)); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{
		strings.Replace(sound, `, "public": "p"`, "", 1),
		strings.Replace(sound, `"p"`, "null", 1),
		strings.Replace(sound, `{`, `{"more": 1, `, 1),
		strings.TrimSuffix(sound, "}"),
	} {
		if checkPrinted(dir, []string{"keygen", "--json"}, []byte(wrong)) == nil {
			t.Errorf("no error found in %s", wrong)
		}
	}
}
