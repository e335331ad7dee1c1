// Package document reads the YAML and TOML files in which benchmarks describe their problems, and
// keeps the place of every value for diagnostics. TOML becomes nodes of YAML, so that a reader of
// values serves both. It knows no benchmark.
//
// OpenYAML and OpenTOML return a File whose Mistakes tell why it cannot be read; At, Texts and
// Scalar look into its nodes.
package document
