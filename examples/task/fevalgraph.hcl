# Generated test data, a compiled fixture, a solution that must be built, and measurements of solutions. judge.feval.hcl generates
# test data of a judge problem.
#   fevalgraph run
task "numbers" {
  for_each = { small = 10, large = 5000 }
  input "numbers.awk" { source = "tools/numbers.awk" }
  run = "awk -v n=${each.value} -v seed=7 -f numbers.awk >numbers.txt"
  output "numbers" {
    path = "numbers.txt"
    kind = "file"
  }
}

task "oracle" {
  input "oracle.c" { source = "tools/oracle.c" }
  argv = ["cc", "-O1", "-o", "oracle", "oracle.c"]
  output "oracle" {
    path = "oracle"
    kind = "file"
  }
}

problem "longest_run" {
  title = "Length of the longest ascending run"
  command {
    root     = "grader"
    solution = "solution.sh"
    argv     = ["sh", "grade.sh"]
  }
  dynamic "asset" {
    for_each = task.numbers
    labels   = [asset.key]
    content {
      source = asset.value.outputs.numbers
      target = "cases/${asset.key}.txt"
    }
  }
  asset "oracle" { source = task.oracle.outputs.oracle }
}

solution "awk" {
  problem = problem.longest_run
  source  = "solutions/awk.sh"
}

task "assembled" { # a solution in two parts
  input "parts" { source = "solutions/parts" }
  run = "cat parts/head.sh parts/body.sh >solution.sh"
  output "script" {
    path = "solution.sh"
    kind = "file"
  }
}

solution "assembled" {
  problem = problem.longest_run
  source  = task.assembled.outputs.script
}

task "size" {
  for_each = { for s in [solution.awk, solution.assembled] : s.name => s }
  input "code" { source = each.value }
  run = "printf '{\"lines\": %d, \"bytes\": %d}' $(wc -l <code/solution.sh) $(wc -c <code/solution.sh) >size.json"
  output "size" {
    path = "size.json"
    kind = "metrics"
  }
}

result "board" {
  from     = suite.default
  group_by = ["solution"]
  metric "score" { value = self.score }
  metric "lines" { value = try(self.figures["size.lines"], null) }
}
