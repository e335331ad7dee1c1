package workerhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"strings"
	"time"
)

// egressLimit limits the time to connect to a host.
const egressLimit = 30 * time.Second

// serveEgress runs a proxy to some hosts, over plain HTTP and CONNECT, until ctx ends. A host is a name,
// "*." and a name for all of its subdomains, an address, or a range of addresses.
func serveEgress(ctx context.Context, address string, hosts []string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	if _, err := fmt.Println("ready"); err != nil {
		return err
	}
	server := &http.Server{Handler: newEgress(hosts, dialOutside), ReadHeaderTimeout: egressLimit, MaxHeaderBytes: 64 << 10}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	return server.Serve(listener)
}

// egress is a proxy to some hosts.
type egress struct {
	hosts []string
	dial  func(ctx context.Context, network, address string) (net.Conn, error)
	plain *httputil.ReverseProxy
}

func newEgress(hosts []string, dial func(ctx context.Context, network, address string) (net.Conn, error)) *egress {
	plain := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.RawQuery = r.In.URL.RawQuery // unchanged, even if it cannot be parsed
			r.Out.Host = r.Out.URL.Host            // the host that the list allows; the header can name another one
			r.Out.Header.Del("Connection")
			r.Out.Header.Del("Upgrade")
		},
		Transport: &http.Transport{DialContext: dial, ResponseHeaderTimeout: time.Minute, DisableCompression: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	return &egress{hosts: hosts, dial: dial, plain: plain}
}

// ServeHTTP implements http.Handler.
func (e *egress) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := r.URL.Hostname() // also for CONNECT, whose URL is the whole address
	switch {
	case !allowedHost(e.hosts, host):
		http.Error(w, fmt.Sprintf("%q is not an allowed host", host), http.StatusForbidden)
	case r.Method == http.MethodConnect:
		e.tunnel(w, r)
	case r.URL.Scheme != "http":
		http.Error(w, "this proxy supports only http and CONNECT", http.StatusBadRequest)
	default:
		e.plain.ServeHTTP(w, r)
	}
}

// tunnel connects the client to a host.
func (e *egress) tunnel(w http.ResponseWriter, r *http.Request) {
	remote, err := e.dial(r.Context(), "tcp", r.URL.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer remote.Close()
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		http.Error(w, "this protocol does not support tunnels", http.StatusHTTPVersionNotSupported)
		return
	}
	client, buffered, err := hijacker.Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{}, 2)
	pass := func(to net.Conn, from io.Reader) {
		_, _ = io.Copy(to, from)
		if half, ok := to.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
		done <- struct{}{}
	}
	go pass(remote, buffered)
	go pass(client, remote)
	<-done
	<-done
}

// allowedHost reports whether a list contains a host of a request.
func allowedHost(hosts []string, host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	ip, err := netip.ParseAddr(host)
	isAddress := err == nil
	for _, one := range hosts {
		one = strings.ToLower(one)
		below, isSuffix := strings.CutPrefix(one, "*.")
		within, err := netip.ParsePrefix(one)
		switch {
		case isAddress && err == nil && within.Contains(ip.Unmap()), isAddress && one == ip.Unmap().String():
			return true
		case isAddress:
		case isSuffix && strings.HasSuffix(host, "."+below), host != "" && host == one:
			return true
		}
	}
	return false
}

// dialOutside connects to a host, but never to this machine, even if the name resolves to it.
func dialOutside(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, egressLimit)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, ip := range found {
		if ip = ip.Unmap(); ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() {
			errs = append(errs, fmt.Errorf("%s resolves to %s, which is this machine", host, ip))
			continue
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(ip.String(), port))
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}
