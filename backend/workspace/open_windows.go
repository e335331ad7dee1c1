package workspace

import "os"

const openFlags = os.O_RDONLY

// isOwn reports whether a file belongs to the caller. Directories for temporary files
// are the user's own.
func isOwn(os.FileInfo) bool { return true }

// movable does nothing: it needs a system with modes.
func movable(os.FileInfo) bool { return false }

// systems does nothing: it needs a system with numbered users.
func systems(os.FileInfo) bool { return true }

// isOpen does nothing: it needs a system with modes.
func isOpen(os.FileInfo) bool { return false }
