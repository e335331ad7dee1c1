package docker

// Endpoint says where a daemon listens.
type Endpoint struct {
	Host     string // "unix:///var/run/docker.sock", "tcp://host:2376"
	CertPath string // directory of ca.pem, cert.pem and key.pem; "" is no TLS
	// SkipVerify accepts whatever certificate the daemon shows.
	SkipVerify bool
	// Version pins the API's version, "1.41"; empty negotiates it.
	Version string
}
