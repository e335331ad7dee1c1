package lang

// lightCP reads the attributes of a lightcp backend.
func (b *block) lightCP() *LightCPBackend {
	b.noWorkspace("A lightcp backend hands submissions to a server")
	j := &LightCPBackend{Endpoint: b.endpoint("endpoint")}
	j.Timeout, _ = b.limit("timeout")
	return j
}
