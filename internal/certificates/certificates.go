// Package certificates makes uv trust the certificates of the machine.
package certificates

import (
	"os"
	"runtime"
	"slices"
)

// bundles lists where distributions store the certificates that the machine trusts. Checking for the files
// takes microseconds; crypto/x509 would read all of them.
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt", // Debian, Arch, Alpine
	"/etc/pki/tls/certs/ca-bundle.crt",   // Fedora
	"/etc/ssl/ca-bundle.pem",             // openSUSE
	"/etc/ssl/cert.pem",                  // BSD
}

// System returns environment variables, KEY=value, that make uv trust the certificates of this machine, like
// pip and curl: behind a proxy that inspects TLS, only the system's store contains the proxy's certificate
// authority. It returns none if the system has no store, or if the caller's environment, which lookup reads,
// sets them. Older releases of uv only know the second name.
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
