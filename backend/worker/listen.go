package worker

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"time"
)

// NewAccess generates a secret and a certificate for one server.
func NewAccess() (Access, tls.Certificate, error) {
	fail := func(err error) (Access, tls.Certificate, error) {
		return Access{}, tls.Certificate{}, fmt.Errorf("creating the worker's certificate: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fail(err)
	}
	// Clients only compare its digest.
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(10, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return fail(err)
	}
	return Access{Token: rand.Text(), Certificate: sha256.Sum256(der)}, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// Serve answers clients of a listener until Wait returns, and then ends all sessions.
// When it returns, all requests have been answered.
func (s *Server) Serve(ctx context.Context, l net.Listener, c tls.Certificate) error {
	server := &http.Server{
		Handler:           s,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}},
		ReadHeaderTimeout: 30 * time.Second,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 4096, SendPingTimeout: time.Minute},
		ErrorLog:          log.New(io.Discard, "", 0), // other clients that connect
	}
	served := make(chan error, 1)
	go func() { served <- server.ServeTLS(l, "", "") }()
	waited := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { waited <- s.Wait(ctx) }()
	var err error
	select {
	case err = <-served:
	case err = <-waited:
		if errors.Is(err, context.Canceled) {
			err = nil // the caller ends it
		}
	}
	err = errors.Join(err, s.Close(context.WithoutCancel(ctx)), server.Close())
	s.answering.Wait() // they use the host
	return err
}
