# Generates the test data of a judge problem, with the oracle's answers:
#   fevalgraph run --var gojudge=true
variable "gojudge" { default = false } # true if go-judge is in PATH
locals { judged = toset(var.gojudge ? ["ascending"] : []) }
backend "local" "host" {}
backend "gojudge" "box" {}

task "cases" {
  for_each = local.judged
  dynamic "input" {
    for_each = task.numbers
    labels   = [input.key]
    content { source = input.value.outputs.numbers }
  }
  input "oracle" { source = task.oracle.outputs.oracle }
  run = <<-END
    mkdir cases
    for size in small large; do
      cp $size cases/$size.in
      ./oracle <$size >cases/$size.ans
    done
  END
  output "cases" { path = "cases" }
}

problem "ascending" {
  for_each = local.judged
  title    = "Length of the longest ascending run, judged case by case"
  judge {
    root     = "judge"
    checker  = "checker.cc"
    testdata = task.cases[each.key].outputs.cases
    subtask {
      case {
        input  = "small.in"
        output = "small.ans"
      }
      case {
        input  = "large.in"
        output = "large.ans"
      }
    }
  }
}

solution "ascending" {
  for_each = problem.ascending
  name     = "c++"
  problem  = each.value
  source   = "solutions/ascending.cpp"
}
