# Cells on clusters or, for comparison, on this machine. Solutions are written by the
# tests: those of answers/PROBLEM count what they earn, those of tested/ have pytest.

variable "where" { default = "skypilot" }
variable "api" { default = "local" }

variable "isolation" { default = null }
variable "keep" { default = null }
variable "set_up" { default = [] }
variable "cpus" { default = "1" }
variable "slots" { default = 4 }
variable "go_judge" { default = null }

variable "log" {
  default     = "/dev/null"
  description = "Where graders note that they ran."
}
variable "nap" { default = "0" }

locals {
  answers = fileset("answers", "*/*.txt")
  tested  = fileset("tested", "*/*/kv.py")
  sums    = fileset("sums", "*.cpp")
}

backend "skypilot" "slurm" {
  infra     = "slurm/tests"
  api       = var.api
  slots     = var.slots
  keep      = var.keep
  isolation = var.isolation
  go_judge  = var.go_judge

  cluster_setup = var.set_up

  resources {
    cpus   = var.cpus
    memory = "2"
  }
}

backend "local" "host" {
  unhashed = var.log == "/dev/null" ? [] : [var.log] # to which graders write
}

backend "gojudge" "box" {}

suite "all" {
  exclude {
    when   = (cell.backend.name == "slurm") != (var.where == "skypilot")
    reason = "not asked for"
  }
}

# Those whose names begin with gpu need one.
problem "grade" {
  for_each = toset([for a in local.answers : dirname(a)])
  name     = each.key
  command {
    root      = "grade"
    directory = "grade"
    solution  = "answer.txt"
    argv      = ["sh", "grade.sh"]
    env       = { LOG = var.log, NAP = var.nap }
  }
  resources {
    cpus         = startswith(each.key, "gpu") ? "2" : null
    accelerators = startswith(each.key, "gpu") ? "H100:1" : null
  }
}

solution "grade" {
  for_each = toset(local.answers)
  name     = trimsuffix(basename(each.key), ".txt")
  problem  = problem.grade[dirname(each.key)]
  source   = "answers/${each.key}"
}

problem "tested" {
  for_each = toset([for s in local.tested : dirname(dirname(s))])
  name     = each.key
  entry    = "python kv.py"
  pytest { root = "tests" }
  checkpoint "one" {}
  resources {
    cpus         = startswith(each.key, "gpu") ? "2" : null
    accelerators = startswith(each.key, "gpu") ? "H100:1" : null
  }
}

solution "tested" {
  for_each = toset(local.tested)
  name     = basename(dirname(each.key))
  problem  = problem.tested[dirname(dirname(each.key))]
  source   = "tested/${dirname(each.key)}"
}

problem "sum" {
  judge {
    root    = "sum"
    checker = "checker.cc"
    time    = "2s"
    memory  = "256MiB"
    subtask { n_cases = 2 }
  }
}

solution "sum" {
  for_each = toset(local.sums)
  name     = trimsuffix(each.key, ".cpp")
  problem  = problem.sum
  source   = "sums/${each.key}"
}
