package user

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache/remote"
	"github.com/fevalgraph/fevalgraph/eval/exit"
)

// SigningKeyVariable is the variable with the key that signs bundles and uploads to remote caches, or with the
// name of its file.
const SigningKeyVariable = "FEVALGRAPH_SIGNING_KEY"

// SigningKey returns the signing key from the environment, or nil.
func SigningKey(lookup func(string) (string, bool)) (*remote.PrivateKey, error) {
	text, _ := lookup(SigningKeyVariable)
	if text == "" {
		return nil, nil
	}
	content := []byte(text)
	if !strings.HasPrefix(text, "-----BEGIN") {
		var err error
		if content, err = os.ReadFile(text); err != nil {
			return nil, exit.With(exit.Usage, fmt.Errorf("%s: %w", SigningKeyVariable, err))
		}
	}
	k, err := remote.ParsePrivateKey(content)
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("%s: %w", SigningKeyVariable, err))
	}
	return &k, nil
}

// GenerateSigningKey creates a signing key with a display name, which can be "". It writes the private part to
// a new file, and returns the public part in the form for configurations.
func GenerateSigningKey(path, name string) (public string, err error) {
	k, err := remote.GenerateKey(name)
	if err != nil {
		return "", exit.With(exit.Usage, err)
	}
	text, err := k.MarshalText()
	if err != nil {
		return "", exit.With(exit.NotJudged, err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", exit.With(exit.Usage, fmt.Errorf("creating the key file: %w", err))
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", exit.With(exit.NotJudged, fmt.Errorf("writing the key: %w", errors.Join(err, os.Remove(path))))
	}
	return k.PublicKey.String(), nil
}
