package generate

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/gen"
	"github.com/fevalgraph/fevalgraph/gen/keypool"
	"github.com/fevalgraph/fevalgraph/gen/model"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
	"github.com/fevalgraph/fevalgraph/lang"
)

// The default number of concurrent requests of a key, and the maximum of a generator.
const (
	usualAtOnce = 4
	mostAtOnce  = 512
)

// atOnce returns how many requests of a key can run at a time.
func atOnce(g *lang.Generator) int {
	switch {
	case g.AtOnce > 0:
		return g.AtOnce
	case g.PerMinute > 0:
		return g.PerMinute
	}
	return usualAtOnce
}

// slots returns how many requests of a generator can run, or wait for a key.
func slots(g *lang.Generator) int {
	return min(max(len(g.Keys), 1)*atOnce(g), mostAtOnce)
}

// unready is the model of a generator without missing requests.
type unready struct{}

func (unready) Ask(context.Context, string, model.Question) (model.Answer, error) {
	return model.Answer{}, errors.New("the request changed since the call began; call it again")
}

func noKeys() *keypool.Pool { return keypool.New([]keypool.Key{{}}, keypool.Limits{}) }

// identify returns a text that identifies the model of a generator.
func identify(cfg *lang.Config, g *lang.Generator) []gen.Field {
	if g.Endpoint != "" {
		return []gen.Field{{Label: "endpoint", Value: g.Endpoint}}
	}
	argv, _ := json.Marshal(g.Command)
	fields := []gen.Field{{Label: "command", Value: string(argv)}}
	for i, path := range projectFiles(cfg.Root, g.Command) {
		if path == "" {
			continue
		}
		sum := "unreadable"
		if content, err := os.ReadFile(path); err == nil {
			sum = cache.SumBytes(content).Hex()
		}
		fields = append(fields, gen.Field{Label: "file " + g.Command[i], Value: sum})
	}
	for _, v := range g.Env {
		value := v.Value
		if v.Secret != "" {
			value = "secret " + v.Secret
		}
		fields = append(fields, gen.Field{Label: "env " + v.Name, Value: value})
	}
	return fields
}

// projectFiles returns the paths of arguments that name regular files of the project; "" for other
// arguments.
func projectFiles(root string, argv []string) []string {
	paths := make([]string, len(argv))
	for i, arg := range argv {
		path := arg
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, arg)
		}
		if !subpath.Contains(root, path) || i == 0 && !strings.ContainsRune(arg, filepath.Separator) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			paths[i] = path
		}
	}
	return paths
}

// equip gives generators their models and keys, if the project may use them.
func (c *call) equip(all []*gen.Generator) error {
	var hidden []string
	for _, s := range c.cfg.Secrets {
		if s.Value != "" {
			hidden = append(append(hidden, s.Value), strings.Fields(s.Value)...) // each word can be a key
		}
	}
	for _, g := range all {
		for _, v := range g.Env {
			if v.Secret != "" && v.Value != "" { // a sensitive variable, or text that contains more than a secret
				hidden = append(hidden, v.Value)
			}
		}
	}
	redact := func(text string) string { return string(backend.RedactBytes([]byte(text), hidden)) }
	if err := c.checkTrusted(all); err != nil {
		return err
	}
	for _, g := range all {
		if c.r.MaxCost > 0 && g.Price == nil {
			return exit.With(exit.Usage, fmt.Errorf("--max-cost needs the price of %s: write price { input = …, output = … }, in dollars per million tokens", g.Ref))
		}
		keys, err := c.keys(g.Generator)
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		g.Keys = keypool.New(keys, keypool.Limits{PerMinute: g.PerMinute, Concurrency: atOnce(g.Generator)})
		if g.Endpoint == "" {
			env, err := c.environment(g.Generator)
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			g.Model = &model.Program{Argv: g.Command, Dir: c.cfg.Root, Env: env, Timeout: g.Timeout, Redact: redact}
			continue
		}
		var parameters map[string]any
		if g.Parameters != "" {
			decoder := json.NewDecoder(strings.NewReader(g.Parameters))
			decoder.UseNumber()
			if err := decoder.Decode(&parameters); err != nil {
				return exit.With(exit.Usage, fmt.Errorf("parameters of %s: %w", g.Ref, err))
			}
		}
		g.Model = model.NewHTTP(model.HTTPOptions{Endpoint: g.Endpoint, Model: g.Generator.Model, Parameters: parameters, Timeout: g.Timeout,
			Transport: c.transport(slots(g.Generator)), Redact: redact})
	}
	return nil
}

// transport returns the transport of requests. Proxies come from the caller's environment.
func (c *call) transport(connections int) http.RoundTripper {
	get := func(name string) string {
		value, ok := c.o.Getenv(name)
		if !ok {
			value, _ = c.o.Getenv(strings.ToLower(name))
		}
		return value
	}
	proxy := (&httpproxy.Config{HTTPProxy: get("HTTP_PROXY"), HTTPSProxy: get("HTTPS_PROXY"), NoProxy: get("NO_PROXY")}).ProxyFunc()
	return &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: connections,
		Proxy: func(r *http.Request) (*url.URL, error) { return proxy(r.URL) }}
}

// keys returns the API keys of a generator: an empty one if it needs none.
func (c *call) keys(g *lang.Generator) ([]keypool.Key, error) {
	if len(g.Keys) == 0 {
		return []keypool.Key{{}}, nil
	}
	var keys []keypool.Key
	for _, name := range g.Keys {
		s, err := c.secret(g, name)
		if err != nil {
			return nil, err
		}
		lines := strings.Fields(s.Value)
		for i, line := range lines {
			called := "secret." + name
			if len(lines) > 1 {
				called = fmt.Sprintf("%s (number %d)", called, i+1)
			}
			if strings.ContainsFunc(line, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
				return nil, fmt.Errorf("%s is not an API key: it contains invalid characters", called)
			}
			keys = append(keys, keypool.Key{Name: called, Value: line})
		}
	}
	return keys, nil
}

// secret returns a secret that a generator needs, which must have a value now.
func (c *call) secret(g *lang.Generator, name string) (*lang.Secret, error) {
	for i := range c.cfg.Secrets {
		s := &c.cfg.Secrets[i]
		switch {
		case s.Name != name:
		case strings.TrimSpace(s.Value) != "":
			return s, nil
		case s.Env != "":
			return nil, fmt.Errorf("%s needs secret.%s: the environment variable %s is not set", g.Ref, name, s.Env)
		default:
			return nil, fmt.Errorf("%s needs secret.%s: the file %s is empty", g.Ref, name, s.File)
		}
	}
	return nil, fmt.Errorf("%s needs secret.%s, which has no value", g.Ref, name)
}

// environment returns the environment of a command.
func (c *call) environment(g *lang.Generator) ([]string, error) {
	env := []string{}
	for _, name := range []string{"PATH", "HOME"} {
		if value, ok := c.o.Getenv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for _, v := range g.Env {
		for _, name := range secretsOf(c.cfg, v) {
			if _, err := c.secret(g, name); err != nil {
				return nil, err
			}
		}
		env = append(env, v.Name+"="+v.Value)
	}
	return env, nil
}
