// Package generate has models make solutions: it opens a project, finds out what has to be
// asked, sees that the project is trusted to use the keys for it, asks, and writes the files.
// It is a part of the application beside evaluation, which needs nothing of it.
package generate
