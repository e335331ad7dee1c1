// Package validate finds reasons for warnings in a valid configuration, and checks whether the references
// that problems ship reach the expected results, and which expected solutions are present.
package validate
