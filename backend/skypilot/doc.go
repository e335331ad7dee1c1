// Package skypilot runs sessions and sandboxes on clusters of machines that SkyPilot
// launches: on clouds, Kubernetes and Slurm.
//
// A Pool has clusters of one kind. The first that needs a slot has the pool launch one;
// more follow while what waits would take long, up to a limit. On each cluster runs one
// job, a worker of package worker, which serves any number of nodes one after another:
// a job costs SkyPilot seconds, a session milliseconds.
//
// A cluster costs money until it is ended. So there is a Lease for it, a file of the
// project, before SkyPilot is asked for it, and the file goes when SkyPilot has no such
// cluster any more. A run that finds the lease of a run that died adopts the cluster if
// it can use it, with the work that goes on there, and ends it otherwise. A worker that no run
// talks to ends itself, SkyPilot then ends the idle cluster, and the provider has a limit of its
// own on top.
//
// The kind of backend, for blocks of the configuration, is in kind.go.
package skypilot
