package harbor

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"
	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/compat/document"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

const (
	composeMain = "main" // the service that runs the verifier
	maxServices = 16
)

// Reasons for which settings of compose files are refused.
const (
	needsMachine  = "services have no access to the machine"
	needsNetwork  = "all services are on one private network, under their names"
	needsFile     = "no other files are read"
	needsLimits   = "the verifier's limits apply to services"
	needsOwnFiles = "services have only the files of their image"
)

var refusedSettings = map[string]string{
	"container_name": needsNetwork, "ports": needsNetwork, "network_mode": needsNetwork, "networks": needsNetwork, "links": needsNetwork,
	"external_links": needsNetwork, "extra_hosts": needsNetwork, "dns": needsNetwork, "dns_search": needsNetwork, "mac_address": needsNetwork,
	"volumes": needsOwnFiles, "volumes_from": needsOwnFiles, "tmpfs": needsOwnFiles, "configs": needsOwnFiles, "secrets": needsOwnFiles,
	"privileged": needsMachine, "cap_add": needsMachine, "devices": needsMachine, "device_cgroup_rules": needsMachine, "gpus": needsMachine,
	"security_opt": needsMachine, "pid": needsMachine, "ipc": needsMachine, "uts": needsMachine, "userns_mode": needsMachine, "cgroup": needsMachine,
	"cgroup_parent": needsMachine, "sysctls": needsMachine, "runtime": needsMachine, "use_api_socket": needsMachine, "credential_spec": needsMachine,
	"extends": needsFile, "env_file": needsFile, "label_file": needsFile, "include": needsFile,
	"deploy": needsLimits, "mem_limit": needsLimits, "cpus": needsLimits, "pids_limit": needsLimits, "ulimits": needsLimits, "shm_size": needsLimits,
	"build": "only the image of main is built; use image",
}

// ignoredSettings change nothing here: a service runs for one verification.
var ignoredSettings = []string{"expose", "restart", "init", "labels", "logging", "stop_grace_period", "stop_signal", "stdin_open", "tty"}

// compose is a docker-compose.yaml.
type compose struct {
	*document.File
	services map[string]*yaml.Node
}

// composed reads the file with the containers around a verifier, if a directory has one, and reports whether it does.
// With an image, that of main is known.
func (t *task) composed(v *taskVerifier, dir, image string) bool {
	file := filepath.Join(dir, composeFile)
	if !t.files.Exists(file) {
		return false
	}
	c := &compose{File: document.OpenYAML(t.files, file), services: map[string]*yaml.Node{}}
	c.read(v, dir, image)
	if v.Image == "" && v.Dockerfile == "" && len(c.Mistakes) == 0 && !t.recipe(v, dir) {
		c.Fail(c.services[composeMain], "main has no image")
	}
	for _, mistake := range c.Mistakes { // steps share files
		mistake.Severity = cmp.Or(mistake.Severity, diag.Error) // of what cannot be read at all
		if !slices.ContainsFunc(t.Mistakes, func(known diag.Diagnostic) bool { return reflect.DeepEqual(known, mistake) }) {
			t.Mistakes = append(t.Mistakes, mistake)
		}
	}
	return true
}

func (c *compose) read(v *taskVerifier, dir, image string) {
	if c.Root == nil {
		return
	}
	for _, key := range document.Keys(c.Root) {
		if node := document.At(c.Root, key); key != "services" && key != "version" && key != "name" && !strings.HasPrefix(key, "x-") {
			c.refuse(node, "the file", key)
		}
	}
	all := document.At(c.Root, "services")
	names := document.Keys(all)
	if len(names) == 0 || len(names) > maxServices {
		c.Fail(all, fmt.Sprintf("services must be a mapping of 1 to %d services", maxServices))
		return
	}
	for _, name := range names {
		c.services[name] = document.At(all, name)
		if c.services[name].Kind != yaml.MappingNode {
			c.Fail(c.services[name], name+" must be a mapping")
			return
		}
	}
	if v.Image = image; c.services[composeMain] != nil {
		c.main(v, dir, image)
	}
	for _, name := range c.order(names) {
		if name != composeMain {
			v.Services = append(v.Services, c.service(name))
		}
	}
}

// refuse reports a setting that a file must not have.
func (c *compose) refuse(n *yaml.Node, of, key string) {
	why, known := refusedSettings[key]
	if !known {
		why = "unknown setting"
	}
	c.Fail(n, fmt.Sprintf("%s has %q, which is not supported: %s", of, key, why))
}

// only refuses all settings of a service but some.
func (c *compose) only(name string, known ...string) {
	n := c.services[name]
	for _, key := range document.Keys(n) {
		if !slices.Contains(known, key) && !slices.Contains(ignoredSettings, key) {
			c.refuse(document.At(n, key), "the service "+name, key)
		}
	}
}

// main reads the service of the verifier. Harbor's own files set its command, and name its image and directory in variables.
func (c *compose) main(v *taskVerifier, dir, image string) {
	n := c.services[composeMain]
	c.only(composeMain, "image", "build", "command", "entrypoint", "environment", "depends_on", "working_dir")
	for name, value := range c.environment(composeMain) {
		delete(v.Inherit, name)
		v.Env[name] = value
	}
	if v.Workdir == "" {
		v.Workdir = c.text(composeMain, "working_dir")
	}
	build := document.At(n, "build")
	if image != "" {
		return
	}
	if named := document.At(n, "image"); build == nil && named != nil && document.Scalar(named, "") != "${MAIN_IMAGE_NAME}" {
		v.Image = c.text(composeMain, "image")
		return
	}
	if build == nil {
		return
	}
	context, dockerfile := document.Scalar(build, ""), "Dockerfile"
	if build.Kind == yaml.MappingNode {
		for _, key := range document.Keys(build) {
			if key != "context" && key != "dockerfile" {
				c.Fail(document.At(build, key), fmt.Sprintf("the build of main has %q, which is not supported: an image is built from a directory and a Dockerfile", key))
			}
		}
		context, dockerfile = document.Scalar(document.At(build, "context"), "."), document.Scalar(document.At(build, "dockerfile"), dockerfile)
	}
	if context != "${CONTEXT_DIR}" && path.Clean(context) != "." || !filepath.IsLocal(dockerfile) {
		c.Fail(build, "main must be built in the directory of the file, from a Dockerfile in it")
		return
	}
	v.Dockerfile, v.Context = filepath.Join(dir, dockerfile), dir
}

// order sorts services so that each comes after those it depends on.
func (c *compose) order(names []string) (sorted []string) {
	state := map[string]int{} // 1 while its dependencies are visited, then 2
	var visit func(name string)
	visit = func(name string) {
		depends := document.At(c.services[name], "depends_on")
		if state[name] == 1 {
			c.Fail(depends, fmt.Sprintf("the service %s depends on itself", name))
		}
		if state[name] != 0 {
			return
		}
		state[name] = 1
		on, isList := document.Texts(depends)
		if !isList {
			on = document.Keys(depends)
		}
		for _, other := range on {
			condition := document.Scalar(document.At(depends, other, "condition"), "service_started")
			switch {
			case c.services[other] == nil || other == composeMain:
				c.Fail(depends, fmt.Sprintf("the service %s depends on %q, which must be a service next to main", name, other))
				continue
			case condition == "service_healthy" && document.At(c.services[other], "healthcheck") == nil:
				c.Fail(depends, fmt.Sprintf("the service %s waits until %s is healthy, but the latter has no healthcheck", name, other))
			case condition != "service_started" && condition != "service_healthy":
				c.Fail(depends, fmt.Sprintf("the service %s waits for %q, which is not supported: services run until the verifier ends", name, condition))
			}
			visit(other)
		}
		state[name] = 2
		sorted = append(sorted, name)
	}
	for _, name := range names {
		visit(name)
	}
	return sorted
}

// service reads a service next to main as a block.
func (c *compose) service(name string) lang.MadeBlock {
	c.only(name, "image", "command", "entrypoint", "environment", "user", "working_dir", "healthcheck", "depends_on")
	n := c.services[name]
	attributes := map[string]any{
		"image": c.text(name, "image"), "env": c.environment(name), "user": c.text(name, "user"), "workdir": c.text(name, "working_dir"),
	}
	if attributes["image"] == "" {
		c.Fail(n, fmt.Sprintf("the service %s has no image", name))
	}
	for _, key := range []string{"command", "entrypoint"} {
		if words := c.words(name, document.At(n, key)); words != nil {
			attributes[key] = words
		}
	}
	if ready, limit := c.ready(name, document.At(n, "healthcheck")); ready != nil {
		attributes["ready"], attributes["ready_timeout"] = ready, limit
	}
	return lang.MadeBlock{Kind: "service", Labels: []string{name}, At: c.Place(n), Made: lang.Made{Attributes: attributes}}
}

// text returns a scalar of a service.
func (c *compose) text(name, key string) string {
	n := document.At(c.services[name], key)
	if n != nil && n.Kind != yaml.ScalarNode {
		c.Fail(n, fmt.Sprintf("%s of the service %s must be a string", key, name))
		return ""
	}
	return c.literal(name, n)
}

// literal returns the text of a scalar without variables of Harbor or of the caller.
func (c *compose) literal(name string, n *yaml.Node) string {
	text := strings.ReplaceAll(document.Scalar(n, ""), "$$", "\x00")
	if strings.Contains(text, "$") {
		c.Fail(n, fmt.Sprintf("the service %s uses a variable in %q: write the value itself", name, document.Scalar(n, "")))
	}
	return strings.ReplaceAll(text, "\x00", "$")
}

// words returns a command, a list or a string of words. nil means that it is not set.
func (c *compose) words(name string, n *yaml.Node) []string {
	if n == nil || n.Tag == document.Null {
		return nil
	}
	if n.Kind == yaml.SequenceNode {
		all := []string{}
		for _, one := range n.Content {
			all = append(all, c.literal(name, one))
		}
		return all
	}
	all, err := shellquote.Split(c.literal(name, n))
	if err != nil {
		c.Fail(n, fmt.Sprintf("the service %s has a malformed command: %v", name, err))
	}
	return all
}

// environment returns the variables of a service, a mapping or a list of NAME=VALUE.
func (c *compose) environment(name string) map[string]string {
	all := map[string]string{}
	n := document.At(c.services[name], "environment")
	if n == nil {
		return all
	}
	if n.Kind == yaml.MappingNode {
		for _, key := range document.Keys(n) {
			value := document.At(n, key)
			if value.Kind != yaml.ScalarNode || value.Tag == document.Null {
				c.Fail(value, fmt.Sprintf("the service %s has no value for %s", name, key))
			}
			all[key] = c.literal(name, value)
		}
		return all
	}
	for _, one := range n.Content {
		key, value, set := strings.Cut(c.literal(name, one), "=")
		if !set {
			c.Fail(one, fmt.Sprintf("the service %s has no value for %s", name, key))
		}
		all[key] = value
	}
	return all
}

// ready returns the command of a healthcheck, and the time after which compose would give up.
func (c *compose) ready(name string, n *yaml.Node) (command []string, limit string) {
	if n == nil || document.Scalar(document.At(n, "disable"), "") == "true" {
		return nil, ""
	}
	test := document.At(n, "test")
	command = c.words(name, test)
	switch {
	case test == nil || len(command) == 0 || command[0] == "NONE":
		return nil, ""
	case test.Kind == yaml.ScalarNode:
		command = []string{"/bin/sh", "-c", c.literal(name, test)}
	case command[0] == "CMD-SHELL":
		command = append([]string{"/bin/sh", "-c"}, command[1:]...)
	case command[0] == "CMD":
		command = command[1:]
	}
	duration := func(key, otherwise string) time.Duration {
		d, err := time.ParseDuration(document.Scalar(document.At(n, key), otherwise))
		if err != nil || d < 0 || d > time.Hour {
			c.Fail(document.At(n, key), fmt.Sprintf("%s of the service %s must be a duration of at most an hour", key, name))
		}
		return d
	}
	retries, err := strconv.Atoi(document.Scalar(document.At(n, "retries"), "3"))
	if err != nil || retries < 0 || retries > 1000 {
		c.Fail(document.At(n, "retries"), fmt.Sprintf("retries of the service %s must be a number from 0 to 1000", name))
		retries = 0
	}
	all := duration("start_period", "0s") + time.Duration(retries)*(duration("interval", "30s")+duration("timeout", "30s"))
	return command, min(max(all, 10*time.Second), 30*time.Minute).String()
}
