package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// explain describes an error to the user.
func (c *HTTP) explain(ctx context.Context, key string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var refused *statusError
	if errors.As(err, &refused) {
		return c.ofStatus(ctx, key, refused)
	}
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var redirect *redirectError
	var name *net.DNSError
	switch {
	case errors.As(err, &certificate), errors.As(err, &authority):
		return &WrongError{Reason: fmt.Sprintf("%s has no certificate that this machine trusts: %s", c.o.Endpoint, c.cleanText(key, err.Error())), Hint: "SSL_CERT_FILE can name a file with additional certificates"}
	case errors.As(err, &redirect):
		return c.refuseRedirect(key, redirect.to)
	case errors.Is(err, http.ErrSchemeMismatch):
		return &WrongError{Reason: fmt.Sprintf("%s does not speak TLS", c.o.Endpoint), Hint: "write http:// if it is on this machine"}
	case errors.As(err, &name) && name.IsNotFound:
		return &WrongError{Reason: fmt.Sprintf("host %q not found", name.Name), Hint: "check the endpoint of the generator"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("connection refused at %s", c.o.Endpoint)
	}
	return errors.New(c.cleanText(key, err.Error()))
}

// ofStatus explains a status.
func (c *HTTP) ofStatus(ctx context.Context, key string, e *statusError) error {
	said := fmt.Sprintf("%d %s", e.status, http.StatusText(e.status))
	if e.message != "" {
		said += ": " + c.cleanText(key, e.message)
	}
	switch code := e.status; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusPaymentRequired:
		return &RefusedError{Reason: said}
	case code == http.StatusTooManyRequests && (e.code == "insufficient_quota" || e.kind == "insufficient_quota"):
		return &RefusedError{Reason: said} // which waiting does not fix
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable && e.header.Get("Retry-After") != "":
		return &ThrottledError{After: retryAfter(e.header, time.Now()), Reason: said}
	case code == http.StatusNotFound:
		return c.notFound(ctx, key, said)
	case code == http.StatusRequestTimeout, code == http.StatusConflict, code == http.StatusTooEarly, code >= 500:
		return errors.New(said)
	}
	return &WrongError{Reason: fmt.Sprintf("%s refuses the request: %s", c.o.Endpoint, said), Hint: "check the parameters of the generator, and the length of the prompt", Maybe: true}
}

// refuseRedirect refuses to go elsewhere.
func (c *HTTP) refuseRedirect(key string, to *url.URL) error {
	plain := url.URL{Scheme: to.Scheme, Host: to.Host, Path: strings.TrimSuffix(to.Path, "/chat/completions")}
	return &WrongError{Reason: fmt.Sprintf("%s redirects elsewhere, where no key is sent", c.o.Endpoint),
		Hint: fmt.Sprintf("if that is the right endpoint, write endpoint = %q", c.cleanText(key, plain.String()))}
}

// notFound finds out whether it is the model that is not there, or the endpoint.
func (c *HTTP) notFound(ctx context.Context, key, said string) error {
	models, err := c.models(ctx, key)
	if err != nil || len(models) == 0 {
		hint := "an endpoint is a URL without /chat/completions"
		if !strings.Contains(c.o.Endpoint, "/v1") {
			hint += ", as a rule a URL that ends in /v1"
		}
		return &WrongError{Reason: fmt.Sprintf("%s has no chat completions, or no model %q: %s", c.o.Endpoint, c.o.Model, said), Hint: hint}
	}
	var names []string
	for _, id := range models {
		if id == c.o.Model {
			return &WrongError{Reason: fmt.Sprintf("%s refuses the model %q, which it lists: %s", c.o.Endpoint, c.o.Model, said)}
		}
		names = append(names, c.cleanText(key, id))
	}
	return &WrongError{Reason: fmt.Sprintf("%s has no model %q", c.o.Endpoint, c.o.Model), Hint: "it has " + text.Some(names, 8)}
}

// models returns the names of the models that an endpoint lists.
func (c *HTTP) models(ctx context.Context, key string) (names []string, err error) {
	response, err := c.send(ctx, key, http.MethodGet, "/models", nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var listed struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	err = json.NewDecoder(io.LimitReader(response.Body, 16<<20)).Decode(&listed)
	for _, m := range listed.Data {
		names = append(names, m.ID)
	}
	return names, err
}

// cleanText returns a text of the other side in one line, without secrets, cut to a readable length.
func (c *HTTP) cleanText(key, text string) string {
	const longest = 300
	text = strings.Join(strings.Fields(c.masked(key, text)), " ")
	if r := []rune(text); len(r) > longest {
		text = string(r[:longest]) + "…"
	}
	return text
}

// retryAfter returns how long to wait by the headers of an answer; 0 if unknown.
func retryAfter(h http.Header, now time.Time) time.Duration {
	number := func(name string, unit time.Duration) time.Duration {
		n, err := strconv.ParseFloat(h.Get(name), 64)
		if err != nil || !(n > 0) {
			return 0
		}
		const longest = 1000 * time.Hour // longer and infinite times are cut
		return time.Duration(min(n, float64(longest/unit)) * float64(unit))
	}
	if d := number("Retry-After-Ms", time.Millisecond); d > 0 {
		return d
	}
	if d := number("Retry-After", time.Second); d > 0 {
		return d
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
