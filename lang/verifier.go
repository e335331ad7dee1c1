package lang

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Verifier is the verifier driver of a problem or, with everything that it inherits, of one of its
// checkpoints. Empty strings and zero mean the image's default, or no limit.
type Verifier struct {
	Tests     []string // absolute paths of directories; later ones win
	LeaveOut  []string // absolute paths in Tests to omit
	Solution  string   // target of a source: an absolute path, or "/" for a source with absolute paths
	Artifacts []Artifact
	Image     string // for docker backends; "" means built from Dockerfile or, without it, the backend's image
	// Dockerfile and Context are absolute paths.
	Dockerfile, Context string
	User                string `hcl:"user"`
	Workdir             string `hcl:"workdir"`
	Online              bool
	Hosts               []string `hcl:"hosts"` // that a network reaches if it is not Online; nil means none
	Capabilities        bool
	CPUs                float64       `hcl:"cpus"`
	Memory              int64         `hcl:"memory"` // bytes
	GPU                 bool          `hcl:"gpu"`
	Env                 []EnvVar      `hcl:"env"` // sorted by name
	Inherit             []InheritVar  // as above
	Timeout             time.Duration `hcl:"timeout"`
	Reward              string        `hcl:"reward"`
	Pass                float64       `hcl:"pass"`
	BrokenIf            []BrokenIf
	Services            []Service // in the order of their starts
	Range               diag.Range
}

// Service is a container that runs next to a verifier's.
type Service struct {
	Name         string        // its host name for the verifier and other services
	Image        string        `hcl:"image"`
	Entrypoint   []string      `hcl:"entrypoint"` // nil means the image's, as of Command
	Command      []string      `hcl:"command"`
	Env          []EnvVar      `hcl:"env"`           // sorted by name
	User         string        `hcl:"user"`          // "" means the image's, as of Workdir
	Workdir      string        `hcl:"workdir"`       //
	Ready        []string      `hcl:"ready"`         // succeeds in the container when it is ready; nil means at once
	ReadyTimeout time.Duration `hcl:"ready_timeout"` // above 0
}

// Artifact is a file or directory of solutions, with the patterns that a directory omits.
type Artifact struct {
	Path    string // absolute, clean
	Exclude []string
}

// InheritVar is a variable whose value comes from a variable of the caller.
type InheritVar struct {
	Name, From string
	Default    *string // nil makes a missing score an error
}

// BrokenIf detects a failed machine. One of Values and Pattern is set.
type BrokenIf struct {
	File    string   `hcl:"file"`
	Pointer string   `hcl:"pointer"`
	Values  []string `hcl:"values"`
	Pattern string   `hcl:"pattern"`
}

// verifierOf reads the verifier of a checkpoint, own, on top of the problem's. Either can be nil.
func (b *block) verifierOf(own *block) *Verifier {
	merged := b.singleBlock("verifier")
	if own != nil {
		both := *own
		both.attrs = maps.Clone(merged.attrs)
		maps.Copy(both.attrs, own.attrs)
		for _, kind := range []string{"artifact", "broken_if", "service"} {
			if len(own.children(kind)) == 0 {
				both.kids = append(slices.Clip(both.kids), merged.children(kind)...)
			}
		}
		merged = &both
	}
	return merged.verifier()
}

// verifier reads the block.
func (b *block) verifier() *Verifier {
	v := &Verifier{Range: convertRange(b.header)}
	b.fill(v)
	v.Tests = b.directories("tests")
	leave, _ := b.texts("leave_out")
	for _, text := range leave {
		v.LeaveOut = append(v.LeaveOut, b.l.resolve(b.src, text))
	}
	b.artifacts(v)
	b.verifierContainer(v)
	v.BrokenIf = b.brokenIf()
	v.Services = b.services()
	return v
}

// verifierContainer reads the container of the script, except for limits.
func (b *block) verifierContainer(v *Verifier) {
	b.verifierImage(v)
	network, _ := b.text("network")
	v.Online = network == networkPublic
	switch {
	case network != networkAllowed:
		v.Hosts = nil
	case len(v.Hosts) == 0:
		b.fail(finding{code: "missing-attribute", summary: "Missing attribute", rng: b.at("network").rng,
			detail: "The network \"allowlist\" needs the attribute \"hosts\".", hint: `write such as hosts = ["pypi.org"], or network = "none"`})
	}
	capabilities, _ := b.text("capabilities")
	v.Capabilities = capabilities == "default"
	v.Inherit = b.inheritedVars()
}

// directories reads paths of directories.
func (b *block) directories(name string) []string {
	texts, g := b.texts(name)
	if g == isFailed {
		return nil
	}
	var all []string
	for _, text := range texts {
		dir := b.l.resolve(b.src, text)
		if info, ok := b.stat(name, dir, ""); ok && !info.IsDir() {
			b.reject(name, "not-a-directory", "Not a directory", fmt.Sprintf("%q is not a directory.", b.l.show(dir)), "")
		}
		all = append(all, dir)
	}
	return all
}

// artifacts reads where solutions go.
func (b *block) artifacts(v *Verifier) {
	all := b.children("artifact")
	b.eachNameOnce(all)
	for _, a := range all {
		place := a.label()
		if !isPlace(place) {
			a.fail(finding{code: "bad-path", summary: "Bad path", rng: a.header, detail: fmt.Sprintf("An artifact must be an absolute path below \"/\", without \"..\", and not below /tests or /logs/verifier, not %q.", place)})
			continue
		}
		exclude, _ := a.texts("exclude")
		v.Artifacts = append(v.Artifacts, Artifact{Path: place, Exclude: exclude})
	}
	for i, one := range v.Artifacts { // nested ones would be copied twice
		for _, other := range v.Artifacts[:i] {
			if within(one.Path, other.Path) || within(other.Path, one.Path) {
				b.fail(finding{code: "conflict", summary: "Artifact in an artifact", rng: b.header, detail: fmt.Sprintf("%s and %s overlap.", other.Path, one.Path), hint: "write artifact blocks for the directory only"})
			}
		}
	}
	place, g := b.text("solution")
	switch {
	case g == isSet && place != "/" && !isPlace(place):
		b.reject("solution", "bad-path", "Bad path", fmt.Sprintf("solution must be an absolute path without \"..\", not %q.", place), `write such as "/app"`)
	case len(v.Artifacts) == 0 && (g != isSet || place == "/"):
		b.fail(finding{code: "missing-attribute", summary: "Missing attribute", rng: b.header,
			detail: "A verifier block needs the path of solutions: the attribute \"solution\", or artifact blocks.", hint: `write solution = "/app" or artifact "/app" {}`})
	case len(v.Artifacts) == 0:
		v.Artifacts = []Artifact{{Path: place}}
	}
	v.Solution = place
	if v.Solution == "" && len(v.Artifacts) == 1 {
		v.Solution = v.Artifacts[0].Path
	} else if v.Solution == "" {
		v.Solution = "/"
	}
}

// isPlace reports whether a path can be the target of a solution's files.
func isPlace(place string) bool {
	return path.IsAbs(place) && path.Clean(place) == place && place != "/" && !strings.ContainsRune(place, 0) &&
		!within(place, "/tests") && !within(place, "/logs/verifier") && !within("/logs/verifier", place) && !within(place, ownPlaces)
}

// verifierImage reads which image docker backends take.
func (b *block) verifierImage(v *Verifier) {
	v.Image, _ = b.text("image")
	if to, mapped := b.textMap("image_map")[v.Image]; mapped {
		v.Image = to
	}
	dockerfile, g := b.path("dockerfile")
	if g != isSet || v.Image != "" {
		return
	}
	if info, ok := b.stat("dockerfile", dockerfile, ""); ok && info.IsDir() {
		b.reject("dockerfile", "bad-path", "Not a file", fmt.Sprintf("%q is a directory.", b.l.show(dockerfile)), "write the path of the Dockerfile in it")
	}
	v.Dockerfile, v.Context = dockerfile, filepath.Dir(dockerfile)
	if context, g := b.path("context"); g == isSet {
		v.Context = context
	}
}

// textMap reads a map of strings.
func (b *block) textMap(name string) map[string]string {
	texts, ok := b.stringMap(name)
	if !ok {
		return nil
	}
	all := map[string]string{}
	for it := texts.ElementIterator(); it.Next(); {
		if key, value := it.Element(); !value.IsNull() {
			all[key.AsString()] = value.AsString()
		}
	}
	return all
}

// inheritedVars reads variables of the caller's.
func (b *block) inheritedVars() []InheritVar {
	all := b.textMap("inherit")
	var vars []InheritVar
	for _, name := range slices.Sorted(maps.Keys(all)) {
		from, otherwise, has := strings.Cut(all[name], ":-")
		if !envName().MatchString(name) || !envName().MatchString(from) {
			b.reject("inherit", "bad-name", "Bad name", fmt.Sprintf("%q or %q is not a valid name of an environment variable.", name, from), "")
			return nil
		}
		made := InheritVar{Name: name, From: from}
		if has {
			made.Default = &otherwise
		}
		vars = append(vars, made)
	}
	return vars
}

func (b *block) brokenIf() []BrokenIf {
	var all []BrokenIf
	for _, rule := range b.children("broken_if") {
		var r BrokenIf
		rule.fill(&r)
		if (len(r.Values) > 0) == (r.Pattern != "") {
			rule.fail(finding{code: "missing-attribute", summary: "Invalid combination of attributes", rng: rule.header, detail: "A broken_if block has exactly one of values and pattern."})
		}
		all = append(all, r)
	}
	return all
}

// serviceName matches names of hosts without dots.
var serviceName = lazyregexp.New(`^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$`)

// services reads the containers next to the verifier's.
func (b *block) services() (all []Service) {
	images := b.textMap("image_map")
	blocks := b.children("service")
	b.eachNameOnce(blocks)
	for _, one := range blocks {
		s := Service{Name: one.label()}
		one.fill(&s)
		if to, mapped := images[s.Image]; mapped {
			s.Image = to
		}
		if !serviceName().MatchString(s.Name) || s.Name == "main" || s.Name == "localhost" {
			one.fail(finding{code: "bad-name", summary: "Bad name", rng: one.header,
				detail: fmt.Sprintf("%q cannot be the name of a service, which is a host name: lower-case letters, digits, \"-\" and \"_\", not main or localhost.", s.Name)})
		}
		all = append(all, s)
	}
	return all
}

// verifiedCheckpoints reads the checkpoints of a problem with a verifier. Attributes that only the tests of a pytest
// problem can use are refused: they would have no effect.
func (b *block) verifiedCheckpoints(p *Problem) {
	b.unread(p, b, "asset", "marker")
	all := b.children("checkpoint")
	if len(all) == 0 && !b.decl.failed {
		b.fail(finding{code: "missing-block", summary: "Problem without checkpoints", rng: b.header,
			detail: "A problem with a verifier needs at least one checkpoint.", hint: `write checkpoint "main" { }`})
	}
	b.eachNameOnce(all)
	pass := b.singleBlock("pass")
	for i, one := range all {
		b.unread(p, one, "asset", "marker")
		c := &Checkpoint{Name: one.label(), Verifier: b.verifierOf(one.singleBlock("verifier")), Range: convertRange(one.header)}
		one.checkName()
		c.Order = one.orderOr(i + 1)
		c.Version, _ = one.integer("version")
		c.State, _ = one.text("state")
		c.Spec = one.specOr(p.Spec)
		if own := one.singleBlock("pass"); own != nil {
			c.Pass = own.pass()
		} else if pass != nil {
			c.Pass = pass.pass()
		} else {
			c.Pass = Pass{AtLeast: &c.Verifier.Pass, Range: c.Verifier.Range}
		}
		p.Checkpoints = append(p.Checkpoints, c)
	}
	p.sortCheckpoints()
	b.references(p)
}

// unread refuses blocks and attributes in of, the problem's or a checkpoint's block.
func (b *block) unread(p *Problem, of *block, kinds ...string) {
	for _, kid := range of.kids {
		if slices.Contains(kinds, kid.schema.Name) {
			kid.fail(finding{code: "unknown-block", summary: "Block does not apply", rng: kid.header,
				detail: fmt.Sprintf("A problem with a %s block has no %s.", p.Kind(), kid.schema.Name), hint: "remove it"})
		}
	}
	for _, name := range []string{"entry", "timeout", "session_timeout", "env", "tests", "include_prior_tests"} {
		if attr := of.attrs[name]; attr != nil {
			of.fail(finding{code: "unknown-attribute", summary: "Attribute does not apply", rng: attr.NameRange,
				detail: fmt.Sprintf("A problem with a %s block has no %s outside of it.", p.Kind(), name), hint: "remove it, or move it into the verifier block"})
		}
	}
}

// Solution returns the target of the sources of solutions for a problem with a verifier; see
// Verifier.Solution.
func (p *Problem) Solution() string {
	place := p.Checkpoints[0].Verifier.Solution
	for _, c := range p.Checkpoints {
		if c.Verifier.Solution != place {
			return "/"
		}
	}
	return place
}
