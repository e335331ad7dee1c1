// Package buildlog remembers the last answer of each node of one project, so that a
// decision need not look into the store. It is a file that processes append to, and it
// survives being killed at any time: damage costs the frames that it touches.
//
// It knows nothing of what an address names, nor whether an answer still holds: the engine
// decides that.
package buildlog
