// Package provenance puts what the verdicts of a run rest on into one file, a bundle, and
// checks one without the project, the store or the machine that it came from.
//
// A bundle is an archive of package cache/pack:
//
//	cas/<sha256>      manifests, whose names are keys, and the blobs of results and logs
//	extra/entries     a line of JSON for each node, by key, then one for each verdict
//	extra/statement   a DSSE envelope around an in-toto statement
//
// A node's line says what it made and which nodes made what its manifest names. A verdict's
// line names the node that gave it. The statement is a test result of in-toto; its subject
// is the root of the Merkle tree (RFC 6962) over the lines, so that one signature covers all
// of them, and their order and number. Whoever changes a line, a manifest or a blob changes
// the root, or contradicts a line.
//
// What a signature cannot show is that the signer told the truth: for that, verdicts are
// drawn and made again, by whoever has the tests.
package provenance
