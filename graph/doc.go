// Package graph is the engine: it decides which nodes of a directed acyclic
// graph are stale, runs those and no others, and can say why.
//
// A node's manifest lists everything that can change its outputs; the SHA-256
// of the manifest is the node's key; the key's record in the store names the
// outputs. A dependency enters a manifest by the digests of the outputs that
// are consumed, never by its own key, so equal outputs stop the wave (early
// cutoff). In the terms of "Build Systems à la Carte": a suspending scheduler
// with constructive traces.
//
//	unknown -> fresh ........................................ cached
//	       \-> stale -> queued(pool) -> running -> done | failed | timeout   stored
//	                       ^               |-----> broken                    never stored
//	                       '-- retrying <--'
//	upstream failed or broken -> blocked        run ended first -> interrupted
//
// Workers decide and run nodes; Options bounds both separately. A decision reads
// a snapshot of the node's dependencies, never the state of the scheduler, whose
// lock is held only while a result is applied. A slow decision therefore delays
// the nodes that depend on it and no others.
//
// The package knows nothing of HCL, pytest, containers or verdicts: what a
// node does is its Task.
package graph
