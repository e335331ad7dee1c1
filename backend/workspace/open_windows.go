package workspace

import "os"

const openFlags = os.O_RDONLY

// isOwn reports whether a file belongs to the caller. Directories for temporary files
// are the user's own.
func isOwn(os.FileInfo) bool { return true }

// movable returns false: this system has no modes.
func movable(os.FileInfo) bool { return false }

// systems returns true: this system has no numeric users.
func systems(os.FileInfo) bool { return true }

// isOpen returns false: this system has no modes.
func isOpen(os.FileInfo) bool { return false }
