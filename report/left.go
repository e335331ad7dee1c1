package report

// Left is told of each file that an export answers for: that it has a content, or
// that there must be none. Nil is told nothing. It does not keep the content.
type Left func(path string, content []byte, absent bool)

// Tell calls l unless it is nil.
func (l Left) Tell(path string, content []byte, absent bool) {
	if l != nil {
		l(path, content, absent)
	}
}
