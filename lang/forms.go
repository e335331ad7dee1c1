package lang

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// A Form checks a text that was written for an attribute and returns its stored form. It returns false after
// it has reported an error.
type Form func(b *Block, name, text string) (string, bool)

// must returns the form of texts that satisfy a condition. detail is the format for a violation, with the
// attribute's name, %[1]s, and the text, %[2]q.
func must(holds func(text string) bool, code, summary, detail, hint string) Form {
	return func(b *block, name, text string) (string, bool) {
		if !holds(text) {
			b.reject(name, code, summary, fmt.Sprintf(detail, name, text), hint)
			return "", false
		}
		return text, true
	}
}

// FormMatching returns the form of texts that a pattern matches, or that are empty. wanted describes
// them.
func FormMatching(name string, shape func() *regexp.Regexp, wanted string) Form {
	return must(func(text string) bool { return text == "" || shape().MatchString(text) }, "bad-value", "Bad "+name, "%[2]q is not "+wanted+".", "")
}

// Or returns the form of texts that equal another text, or have a form.
func (f Form) Or(other string) Form {
	return func(b *block, name, text string) (string, bool) {
		if text == other {
			return text, true
		}
		return f(b, name, text)
	}
}

// oneLine returns the form of texts without line breaks.
func oneLine(summary, detail string) Form {
	return func(b *block, name, text string) (string, bool) {
		ok := !strings.ContainsAny(text, "\n\r")
		if !ok {
			b.reject(name, "bad-value", summary, detail, "")
		}
		return text, ok
	}
}

// Forms of paths.
var (
	inWorkspace = must(isRelativeInside, "bad-path", "Bad path", "%[1]s must be a plain relative path inside the workspace, not %[2]q.", `no leading "/" and no ".."`)
	inTests     = must(isRelativeInside, "bad-path", "Bad directory", "%[1]s must be a plain relative path inside the workspace, not %[2]q.", `write such as "tests"`)
	inRewards   = must(isRelativeInside, "bad-path", "Bad path", "%[1]s must be a plain relative path in /logs/verifier, not %[2]q.", "")
	fileName    = must(func(text string) bool { return isRelativeInside(text) && !strings.Contains(text, "/") },
		"bad-path", "Bad file name", "%[1]s must be the plain name of a file, not %[2]q.", `write such as "main.cpp"`)
	hostPattern = must(isHostPattern, "bad-value", "Bad host", "%[2]q is not a host, without a scheme, a port and a path.", `write such as "example.org", "*.example.org" or "10.0.0.0/8"`)
	pattern     = must(doublestar.ValidatePattern, "bad-pattern", "Bad pattern", "%[2]q is not a valid pattern.", "")
)

// hostText matches names of hosts, optionally with a leading wildcard.
var hostText = lazyregexp.New(`^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*$`)

func isHostPattern(text string) bool {
	_, notAddress := netip.ParseAddr(text)
	_, notRange := netip.ParsePrefix(text)
	return hostText().MatchString(text) || notAddress == nil || notRange == nil
}

// FormPath resolves a path relative to the file that contains it.
func FormPath(b *Block, name, text string) (string, bool) {
	if text == "" || strings.ContainsRune(text, 0) {
		b.reject(name, "bad-path", "Bad path", fmt.Sprintf("%s must be a path, not %q.", name, text), "")
		return "", false
	}
	return b.l.resolve(b.src, text), true
}

// FormInContainer is the form of absolute paths of a container.
var FormInContainer Form = func(b *block, name, text string) (string, bool) {
	if !path.IsAbs(text) || path.Clean(text) == "/" || strings.ContainsRune(text, 0) {
		b.reject(name, "bad-path", "Bad path in the container", fmt.Sprintf("%s must be an absolute path below \"/\", not %q.", name, text), "")
		return "", false
	}
	return path.Clean(text), true
}

// regularExpression checks regular expressions.
func regularExpression(b *block, name, text string) (string, bool) {
	_, err := regexp.Compile(text)
	if err != nil {
		b.reject(name, "bad-pattern", "Bad pattern", fmt.Sprintf("%q is not a regular expression: %v.", text, err), "the syntax is that of RE2")
	}
	return text, err == nil
}

// Forms of names and other short texts. A token is a credential for a server: a secret that enters neither
// keys nor output.
var (
	variable  = must(func(text string) bool { return envName().MatchString(text) }, "bad-name", "Bad name", "%[2]q is not a valid name of an environment variable.", "")
	FormImage = must(func(text string) bool { return imageText().MatchString(text) }, "bad-value", "Bad image", "%[2]q is not a valid name of an image.", `write such as "python:3.12-slim"`)
	pointer   = must(func(text string) bool { return pointerText().MatchString(text) }, "bad-value", "Bad JSON pointer", "%[2]q is not a JSON pointer.", `write such as "/score" or "/results/0/score"`)
	FormToken = must(func(text string) bool {
		return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f })
	}, "bad-value", "Bad token", "%[1]s contains a space or a control character.", "")
	FormIsolation = must(func(text string) bool { return slices.Contains([]string{"full", "partial", "none"}, text) },
		"bad-value", "Bad isolation", "%[2]q is not a level of isolation.", `"full", "partial" or "none"; omit it for the most that the machine allows`)

	// FormUser is the form of users of an image.
	FormUser = FormMatching("user", userText, `a user, such as "1000:1000" or "nobody"`)

	userText    = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)
	envName     = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	imageText   = lazyregexp.New(`^[^\s-]\S*$`)
	pointerText = lazyregexp.New(`^(/([^~]|~[01])*)+$`)
)

// FormAddress returns the form of addresses of servers, which are stored without a trailing slash.
func FormAddress(summary, of, hint string, schemes ...string) Form {
	return func(b *block, name, text string) (string, bool) {
		u, err := url.Parse(text)
		if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			b.reject(name, "bad-value", summary, fmt.Sprintf("%q is not the address of %s.", text, of), hint)
			return "", false
		}
		return strings.TrimRight(text, "/"), true
	}
}

// FormEndpoint is the form of addresses of servers over HTTP.
var FormEndpoint = FormAddress("Bad endpoint", "a server", `write such as "http://127.0.0.1:5050"`, "http", "https")

// IsLoopback reports whether a host's name or address means this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
