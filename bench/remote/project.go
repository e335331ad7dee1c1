package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// configuration describes a project whose cells differ only in the solution.
const configuration = `variable "endpoint" {}

backend "remote" "farm" {
  endpoint = "grpc://${var.endpoint}"
}

problem "grade" {
  command {
    root     = "grade"
    solution = "answer.txt"
    argv     = ["cat", "answer.txt"]
  }
}

solution "grade" {
  for_each = toset(fileset("answers", "*/*.txt"))
  name     = trimsuffix(basename(each.key), ".txt")
  problem  = problem.grade
  source   = "answers/${each.key}"
}
`

func writeProject(dir string, o options) error {
	write := func(name string, content []byte) error {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, content, 0o644)
	}
	if err := write("fevalgraph.hcl", []byte(configuration)); err != nil {
		return err
	}
	for i := range o.files {
		if err := write(fmt.Sprintf("grade/%03d/%03d", i/100, i%100), fmt.Appendf(nil, "%01000d", i)); err != nil {
			return err
		}
	}
	for i := range o.cells {
		if err := write(fmt.Sprintf("answers/%03d/s%d.txt", i/1000, i), fmt.Appendf(nil, "1\n%d answers\n", i)); err != nil {
			return err
		}
	}
	return nil
}
