// Package certificates makes uv trust the certificates of the machine.
package certificates

import (
	"os"
	"runtime"
	"slices"
)

// bundles are where distributions keep the certificates that the machine trusts.
// Asking for the files takes microseconds; crypto/x509 would read all of them.
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt", // Debian, Arch, Alpine
	"/etc/pki/tls/certs/ca-bundle.crt",   // Fedora
	"/etc/ssl/ca-bundle.pem",             // openSUSE
	"/etc/ssl/cert.pem",                  // BSD
}

// System returns variables, KEY=value, that make uv trust what this
// machine trusts, as pip and curl do: behind a proxy that inspects TLS, only the
// system's store knows the proxy's certificate authority. There are none where the
// system has no store, or where the caller's environment, which lookup reads,
// decides for itself. Older releases of uv know the second name alone.
func System(lookup func(string) (string, bool)) []string {
	names := []string{"UV_SYSTEM_CERTS", "UV_NATIVE_TLS"}
	var variables []string
	for _, name := range names {
		if _, set := lookup(name); set {
			return nil
		}
		variables = append(variables, name+"=true")
	}
	stored := runtime.GOOS == "darwin" || runtime.GOOS == "windows" || slices.ContainsFunc(bundles, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() > 0
	})
	if !stored {
		return nil
	}
	return variables
}
