package workerhost

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestAllowedHost(t *testing.T) {
	list := []string{"example.org", "*.pypi.org", "10.0.0.0/8", "192.0.2.7", "2001:db8::/32"}
	for host, want := range map[string]bool{
		"example.org": true, "EXAMPLE.org.": true, "www.example.org": false, "notexample.org": false, "example.org.evil.net": false,
		"files.pypi.org": true, "a.b.pypi.org": true, "pypi.org": false, "evilpypi.org": false, "": false, ".": false,
		"10.1.2.3": true, "11.1.2.3": false, "192.0.2.7": true, "192.0.2.8": false, "::ffff:10.1.2.3": true, "2001:db8::1": true, "2001:db9::1": false, "127.0.0.1": false,
	} {
		if got := allowedHost(list, host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
	if allowedHost(nil, "example.org") {
		t.Error("an empty list allows a host")
	}
}

// A proxy forwards requests and tunnels to hosts of its list alone, by the host that is connected to.
func TestEgress(t *testing.T) {
	var hosts []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hosts = append(hosts, r.Host)
		fmt.Fprint(w, "hello")
	}))
	defer server.Close()
	proxy := httptest.NewServer(newEgress([]string{"good.test", "*.also.test"}, func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at)}}
	for address, want := range map[string]string{
		"http://good.test/": "200 hello", "http://x.also.test:8080/": "200 hello",
		"http://bad.test/": `403 "bad.test" is not in the list of hosts`, "http://127.0.0.1/": "403", "http://also.test/": "403",
	} {
		answer, err := client.Get(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if got := fmt.Sprintf("%d %s", answer.StatusCode, text); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	raw := func(text string) string {
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return err.Error()
		}
		return answer.Status
	}
	for request, want := range map[string]string{
		"CONNECT good.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\r\n":          "200 Connection established",
		"CONNECT bad.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\r\n":           "403 Forbidden",
		"GET http://bad.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n":               "403 Forbidden",
		"GET / HTTP/1.1\r\nHost: good.test\r\n\r\n":                              "403 Forbidden",
		"GET ftp://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n":               "400 Bad Request",
		"GET http://good.test@bad.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n":     "403 Forbidden",
		"GET http://good.test/ HTTP/1.1\r\nHost: bad.test\r\nX: y\r\n\r\n":       "200 OK",
		"CONNECT good.test.bad.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\r\n": "403 Forbidden",
	} {
		if got := raw(request); got != want {
			t.Errorf("%q: %s, want %s", request, got, want)
		}
	}
	if got := strings.Join(hosts, " "); strings.Contains(got, "bad") {
		t.Errorf("requested %s", got)
	}
}

// A name that resolves to this machine is not outside.
func TestDialOutside(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "localhost", "169.254.169.254", "0.0.0.0"} {
		if _, err := dialOutside(t.Context(), "tcp", net.JoinHostPort(host, "80")); err == nil || !strings.Contains(err.Error(), "this machine") {
			t.Errorf("%s: %v", host, err)
		}
	}
}
