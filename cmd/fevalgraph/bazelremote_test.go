//go:build unix

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

// bazelRemoteVariable is the path of bazel-remote.
const bazelRemoteVariable = "FEVALGRAPH_TEST_BAZEL_REMOTE"

// Properties that only a real remote cache has.
func TestBazelRemote(t *testing.T) {
	if os.Getenv(bazelRemoteVariable) == "" {
		if os.Getenv(realVariable) != "" {
			t.Fatalf("%s is not set", bazelRemoteVariable)
		}
		t.Skip("needs bazel-remote; make test has it")
	}
	runScripts(t, "bazelremote", never)
}

// bazelRemote is a server of a script.
type bazelRemote struct {
	cmd        *exec.Cmd
	grpc, http string
	args       []string
}

// bazelRemotes is the key of a script's servers.
type bazelRemotes string

// bazelRemoteCommand starts a server, or starts, stops or ends an existing one.
func bazelRemoteCommand(ts *testscript.TestScript, args []string) error {
	const usage = "usage: bazelremote start NAME [auth] [tls] [reads]; or kill, stop, continue, restart NAME"
	if len(args) < 2 {
		return errors.New(usage)
	}
	servers, _ := ts.Value(bazelRemotes("")).(map[string]*bazelRemote)
	s := servers[args[1]]
	if args[0] != "start" && s == nil {
		return fmt.Errorf("server %s not found", args[1])
	}
	switch args[0] {
	case "start":
		return startBazelRemote(ts, args[1], args[2:], servers)
	case "kill":
		err := s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		return err
	case "stop":
		return s.cmd.Process.Signal(syscall.SIGSTOP)
	case "continue":
		return s.cmd.Process.Signal(syscall.SIGCONT)
	case "restart":
		return s.start()
	}
	return errors.New(usage)
}

func startBazelRemote(ts *testscript.TestScript, name string, with []string, servers map[string]*bazelRemote) error {
	dir := ts.MkAbs("." + name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	s := &bazelRemote{}
	var err error
	if s.grpc, err = freeAddress(); err == nil {
		s.http, err = freeAddress()
	}
	if err != nil {
		return err
	}
	s.args = []string{"--dir", filepath.Join(dir, "cache"), "--max_size", "1", "--access_log_level", "none",
		"--grpc_address", s.grpc, "--http_address", s.http}
	secure := ""
	if slices.Contains(with, "auth") {
		sum := sha1.Sum([]byte("open sesame"))
		line := "ali:{SHA}" + base64.StdEncoding.EncodeToString(sum[:]) + "\n"
		if err := os.WriteFile(filepath.Join(dir, "htpasswd"), []byte(line), 0o600); err != nil {
			return err
		}
		s.args = append(s.args, "--htpasswd_file", filepath.Join(dir, "htpasswd"))
	}
	if slices.Contains(with, "reads") {
		s.args = append(s.args, "--allow_unauthenticated_reads")
	}
	if slices.Contains(with, "tls") {
		secure = "s"
		if err := makeCertificate(filepath.Join(dir, "cert"), filepath.Join(dir, "key")); err != nil {
			return err
		}
		s.args = append(s.args, "--tls_cert_file", filepath.Join(dir, "cert"), "--tls_key_file", filepath.Join(dir, "key"))
		ts.Setenv(name+"_CA", filepath.Join(dir, "cert"))
	}
	ts.Setenv(name+"_GRPC", "grpc"+secure+"://"+s.grpc)
	ts.Setenv(name+"_HTTP", "http"+secure+"://"+s.http)
	ts.Setenv(name+"_GRPC_HOST", s.grpc)
	ts.Setenv(name+"_HTTP_HOST", s.http)
	servers[name] = s
	ts.Defer(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	return s.start()
}

// start starts the server and waits until it responds, even if only with an error of permissions.
func (s *bazelRemote) start() error {
	s.cmd = exec.Command(os.Getenv(bazelRemoteVariable), s.args...)
	if err := s.cmd.Start(); err != nil {
		return err
	}
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	up := await.For(func() bool {
		for _, scheme := range []string{"http", "https"} {
			if answer, err := client.Get(scheme + "://" + s.http + "/status"); err == nil {
				answer.Body.Close()
				return true
			}
		}
		return false
	})
	if !up {
		return errors.New("bazel-remote does not answer")
	}
	return nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// makeCertificate makes a certificate of 127.0.0.1 that signs itself.
func makeCertificate(cert, key string) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "cache"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	raw, err := x509.CreateCertificate(rand.Reader, of, of, &private.PublicKey, private)
	if err != nil {
		return err
	}
	rawKey, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: rawKey}), 0o600))
}
