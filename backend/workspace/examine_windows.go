package workspace

// examineScratch returns nil: only Unix systems have workspaces.
func examineScratch(string) error { return nil }
