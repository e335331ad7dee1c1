// Package wake reports when paths might have changed: by events of the system for their directories, or at
// intervals if there are no events. It is only a hint: callers must check whether anything changed.
package wake
