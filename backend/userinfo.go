package backend

import (
	"net/url"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// userinfo matches names and passwords in URLs, including several URLs separated by spaces or
// commas, and in a proxy without a scheme.
var userinfo = lazyregexp.New(`([A-Za-z][A-Za-z0-9+.-]*://|^)([^/?#\s,]+)@`)

// WithoutUserinfo removes names and passwords from the URLs in a value.
func WithoutUserinfo(value string) string {
	return userinfo().ReplaceAllString(value, "$1")
}

// Userinfo returns the secrets in the URLs of a value: names with their passwords, and single
// passwords and tokens unless they are short enough to be ordinary words in a log.
func Userinfo(value string) []string {
	var secrets []string
	for _, match := range userinfo().FindAllStringSubmatch(value, -1) {
		secret := match[2]
		if _, password, both := strings.Cut(secret, ":"); both {
			secrets = append(secrets, secret)
			secret = password
		}
		if len(secret) < 2*MinSecret {
			continue
		}
		secrets = append(secrets, secret)
		if plain, err := url.PathUnescape(secret); err == nil && plain != secret {
			secrets = append(secrets, plain)
		}
	}
	return secrets
}
