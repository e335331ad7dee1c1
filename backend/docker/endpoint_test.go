package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindEndpoint(t *testing.T) {
	config := t.TempDir()
	write := func(name, content string) {
		name = filepath.Join(config, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	id := func(name string) string {
		sum := sha256.Sum256([]byte(name))
		return hex.EncodeToString(sum[:])
	}
	write("config.json", `{"auths":{},"currentContext":"far"}`)
	write("contexts/meta/"+id("far")+"/meta.json", `{"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:2376","SkipTLSVerify":true}}}`)
	write("contexts/tls/"+id("far")+"/docker/ca.pem", "")
	write("contexts/meta/"+id("near")+"/meta.json", `{"Endpoints":{"docker":{"Host":"unix:///near.sock"}}}`)
	write("contexts/meta/"+id("none")+"/meta.json", `{"Endpoints":{}}`)
	write("contexts/meta/"+id("shell")+"/meta.json", `{"Endpoints":{"docker":{"Host":"ssh://me@there"}}}`)
	write("bad/config.json", "{")
	empty := t.TempDir()

	for _, test := range []struct {
		name, host string
		env        map[string]string
		want       Endpoint
		err        string
	}{
		{"default", "", map[string]string{"HOME": empty}, Endpoint{Host: "unix:///var/run/docker.sock", Origin: "the usual place"}, ""},
		{"given", "tcp://given:1", map[string]string{"DOCKER_HOST": "unix:///x"}, Endpoint{Host: "tcp://given:1", Origin: "the configuration"}, ""},
		{"variable", "", map[string]string{"DOCKER_HOST": "unix:///x", "DOCKER_CONFIG": config, "DOCKER_API_VERSION": "1.41"},
			Endpoint{Host: "unix:///x", Origin: "DOCKER_HOST", Version: "1.41"}, ""},
		{"certificates", "", map[string]string{"DOCKER_HOST": "tcp://x:2376", "DOCKER_CERT_PATH": "/certs", "DOCKER_TLS_VERIFY": "1"},
			Endpoint{Host: "tcp://x:2376", Origin: "DOCKER_HOST", CertPath: "/certs"}, ""},
		{"certificates, unverified", "", map[string]string{"DOCKER_HOST": "tcp://x:2376", "DOCKER_CERT_PATH": "/certs"},
			Endpoint{Host: "tcp://x:2376", Origin: "DOCKER_HOST", CertPath: "/certs", SkipVerify: true}, ""},
		{"current context", "", map[string]string{"DOCKER_CONFIG": config},
			Endpoint{Host: "tcp://far:2376", Origin: `docker context "far"`, SkipVerify: true, CertPath: filepath.Join(config, "contexts/tls", id("far"), "docker")}, ""},
		{"named context", "", map[string]string{"DOCKER_CONFIG": config, "DOCKER_CONTEXT": "near"},
			Endpoint{Host: "unix:///near.sock", Origin: `docker context "near"`}, ""},
		{"default context", "", map[string]string{"DOCKER_CONFIG": config, "DOCKER_CONTEXT": "default"},
			Endpoint{Host: "unix:///var/run/docker.sock", Origin: "the usual place"}, ""},
		{"unknown context", "", map[string]string{"DOCKER_CONFIG": config, "DOCKER_CONTEXT": "gone"}, Endpoint{}, `docker context "gone"`},
		{"context without docker", "", map[string]string{"DOCKER_CONFIG": config, "DOCKER_CONTEXT": "none"}, Endpoint{}, "names no docker host"},
		{"ssh", "", map[string]string{"DOCKER_CONFIG": config, "DOCKER_CONTEXT": "shell"}, Endpoint{}, "ssh is not supported"},
		{"no scheme", "", map[string]string{"DOCKER_HOST": "/var/run/docker.sock"}, Endpoint{}, `docker host "/var/run/docker.sock" of DOCKER_HOST: want unix:///path`},
		{"damaged configuration", "", map[string]string{"DOCKER_CONFIG": filepath.Join(config, "bad")}, Endpoint{}, "reading the docker configuration"},
	} {
		got, err := findEndpoint(test.host, func(name string) (string, bool) {
			value, ok := test.env[name]
			return value, ok
		})
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: got %v, want %q", test.name, err, test.err)
			}
			continue
		}
		if err != nil || got != test.want {
			t.Errorf("%s: got %+v, %v; want %+v", test.name, got, err, test.want)
		}
	}
}
