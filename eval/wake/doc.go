// Package wake says when something may have changed at paths: by what the system tells of the
// directories that they lie in, and by time where it tells nothing. It is a hint, and not the judge
// of whether anything is different.
package wake
