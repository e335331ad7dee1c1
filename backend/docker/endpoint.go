package docker

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// findEndpoint finds the daemon that the docker command would use: of DOCKER_HOST, else of the context
// that DOCKER_CONTEXT or the configuration names, else at the usual socket. host, if not "", has
// precedence. The other variables are DOCKER_TLS_VERIFY, DOCKER_CERT_PATH, DOCKER_API_VERSION,
// DOCKER_CONFIG and HOME, or on Windows USERPROFILE.
func findEndpoint(host string, lookup func(string) (string, bool)) (Endpoint, error) {
	get := func(name string) string {
		value, _ := lookup(name)
		return value
	}
	e := Endpoint{Host: host, Origin: "the configuration", Version: get("DOCKER_API_VERSION")}
	if e.Host == "" {
		e.Host, e.Origin = get("DOCKER_HOST"), "DOCKER_HOST"
	}
	if e.Host == "" {
		config := get("DOCKER_CONFIG")
		if config == "" {
			config = filepath.Join(cmp.Or(get("HOME"), get("USERPROFILE")), ".docker")
		}
		found, err := contextEndpoint(config, get("DOCKER_CONTEXT"))
		if err != nil {
			return Endpoint{}, err
		}
		if found != nil {
			found.Version = e.Version
			return *found, reachable(*found)
		}
		e.Host, e.Origin = DefaultHost, "the default"
	}
	e.CertPath = get("DOCKER_CERT_PATH")
	e.SkipVerify = e.CertPath != "" && get("DOCKER_TLS_VERIFY") == ""
	return e, reachable(e)
}

// reachable returns an error for addresses that the client library does not support.
func reachable(e Endpoint) error {
	switch {
	case strings.HasPrefix(e.Host, "ssh://"):
		return fmt.Errorf("docker host %q of %s: ssh is not supported; forward the daemon's socket with ssh -L and use the forwarded socket", e.Host, e.Origin)
	case !strings.Contains(e.Host, "://"):
		return fmt.Errorf("docker host %q of %s: want unix:///path or tcp://host:port", e.Host, e.Origin)
	}
	return nil
}

// contextEndpoint reads the named context, by default the current one, from the docker command's
// configuration. It returns nil for the default socket.
func contextEndpoint(config, name string) (*Endpoint, error) {
	if name == "" {
		var settings struct {
			CurrentContext string `json:"currentContext"`
		}
		if err := readJSON(filepath.Join(config, "config.json"), &settings); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading the docker configuration: %w", err)
		}
		name = settings.CurrentContext
	}
	if name == "" || name == "default" {
		return nil, nil
	}
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	if err := readJSON(filepath.Join(config, "contexts", "meta", id, "meta.json"), &meta); err != nil {
		return nil, fmt.Errorf("reading docker context %q: %w", name, err)
	}
	found, ok := meta.Endpoints["docker"]
	if !ok || found.Host == "" {
		return nil, fmt.Errorf("docker context %q has no docker host", name)
	}
	e := &Endpoint{Host: found.Host, SkipVerify: found.SkipTLSVerify, Origin: fmt.Sprintf("docker context %q", name)}
	tls := filepath.Join(config, "contexts", "tls", id, "docker")
	if _, err := os.Stat(tls); err == nil {
		e.CertPath = tls
	}
	return e, nil
}

func readJSON(name string, into any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
