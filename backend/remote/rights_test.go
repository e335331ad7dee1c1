package remote

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/remote/remotetest"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// pair is a certificate that signs itself, with its key, as files.
type pair struct{ cert, key string }

func makePair(t *testing.T, name string) pair {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	raw, certErr := x509.CreateCertificate(rand.Reader, of, of, &private.PublicKey, private)
	rawKey, keyErr := x509.MarshalPKCS8PrivateKey(private)
	p := pair{filepath.Join(t.TempDir(), name+".crt"), filepath.Join(t.TempDir(), name+".key")}
	err = errors.Join(certErr, keyErr,
		os.WriteFile(p.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600),
		os.WriteFile(p.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: rawKey}), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// startTLS passes on to an address what clients send that have the certificate of one, and
// returns where.
func startTLS(t *testing.T, to string, own, client pair) string {
	t.Helper()
	cert, err := tls.LoadX509KeyPair(own.cert, own.key)
	if err != nil {
		t.Fatal(err)
	}
	allowed, err := os.ReadFile(client.cert)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool()}
	config.ClientCAs.AppendCertsFromPEM(allowed)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			outside, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { join(outside, to) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		connections.Wait()
	})
	return listener.Addr().String()
}

// join connects a connection with an address, until either side ends.
func join(outside net.Conn, to string) {
	defer outside.Close()
	inside, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(outside, inside)
		outside.Close()
	})
	_, _ = io.Copy(inside, outside)
	inside.Close()
	back.Wait()
}

// All calls, including streams, use TLS with the block's certificate and headers. The engine refuses calls without
// them, and no error reveals a secret.
func TestRights(t *testing.T) {
	const secret = "open-sesame"
	engine, own, ours, theirs := remotetest.Start(t), makePair(t, "engine"), makePair(t, "ours"), makePair(t, "theirs")
	engine.Fail(remotetest.Faults{Token: "Bearer " + secret})
	engine.Execute(func(context.Context, *execution.Action, *execution.Command) remotetest.Outcome {
		return remotetest.Outcome{Response: &execution.ExecuteResponse{Result: &execution.ActionResult{StdoutRaw: []byte("done")}}}
	})
	address := startTLS(t, engine.GRPC, own, ours)
	for _, c := range []struct {
		name   string
		change func(b *lang.Backend, r *attributes)
		want   string // in the error; "" means none. The reason of an engine that ends a connection can get lost.
	}{
		{"token", func(*lang.Backend, *attributes) {}, ""},
		{"header", func(b *lang.Backend, r *attributes) {
			b.Token, r.Headers = "", []lang.Setting{{Name: "authorization", Value: "Bearer " + secret}}
		}, ""},
		{"no rights", func(b *lang.Backend, r *attributes) { b.Token = "" }, "Unauthenticated"},
		{"other rights", func(b *lang.Backend, r *attributes) { b.Token = "another-" + secret }, "Unauthenticated"},
		{"engine of another authority", func(b *lang.Backend, r *attributes) { r.CA = theirs.cert }, "certificate"},
		{"engine of no authority", func(b *lang.Backend, r *attributes) { r.CA = "" }, "certificate"},
		{"no certificate", func(b *lang.Backend, r *attributes) { r.Certificate = "" }, "Unavailable"},
		{"certificate of others", func(b *lang.Backend, r *attributes) { r.Certificate, r.Key = theirs.cert, theirs.key }, "Unavailable"},
		{"key of others", func(b *lang.Backend, r *attributes) { r.Key = theirs.key }, "private key does not match"},
		{"in the clear", func(b *lang.Backend, r *attributes) { r.Endpoint = "grpc://" + address }, "Unavailable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &lang.Backend{Kind: "remote", Name: "farm", Token: secret}
			r := &attributes{Endpoint: "grpcs://" + address + "/instance", CA: own.cert, Certificate: ours.cert, Key: ours.key}
			c.change(b, r)
			b.Attributes = lang.NewAttributes(r)
			err := execute(t.Context(), b)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, not %s", err, c.want)
			case err != nil && strings.Contains(err.Error(), secret):
				t.Errorf("the error reveals the secret: %v", err)
			}
		})
	}
}

// execute uploads an action and has it executed.
func execute(ctx context.Context, b *lang.Backend) error {
	client, err := clientOf(b)
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := client.Capabilities(ctx); err != nil {
		return err
	}
	blobs := reapi.Messages{}
	command, err := blobs.Add(&execution.Command{Arguments: []string{"true"}})
	if err != nil {
		return err
	}
	action, err := blobs.Add(&execution.Action{CommandDigest: reapi.Digest(command)})
	if err != nil {
		return err
	}
	if err := reapi.NewSender(client).Blobs(ctx, blobs, command, action); err != nil {
		return err
	}
	large := make([]byte, 5<<20) // exceeds a message, so it is streamed
	if err := reapi.NewSender(client).Blobs(ctx, reapi.Messages{cache.SumBytes(large): large}, cache.SumBytes(large)); err != nil {
		return err
	}
	done, err := client.Execute(ctx, action, reapi.Execution{})
	if err == nil && string(done.Result.GetStdoutRaw()) != "done" {
		err = errors.New("the engine executed something else")
	}
	return err
}
