# A batch of solutions whose grader says 1, and notes in a file that it ran.

variable "log" { type = string }

backend "local" "host" {
  unhashed = [var.log] # which the grader writes to
}

locals {
  answers = fileset("solutions", "*/*.txt")
}

problem "p" {
  for_each = toset([for a in local.answers : dirname(a)])
  name     = each.key
  command {
    root      = "grade"
    directory = "grade"
    solution  = "answer.txt"
    argv      = ["sh", "grade.sh"]
    env       = { LOG = var.log }
  }
}

solution "s" {
  for_each = toset(local.answers)
  name     = trimsuffix(basename(each.key), ".txt")
  problem  = problem.p[dirname(each.key)]
  source   = "solutions/${each.key}"
  labels   = { model = trimsuffix(basename(each.key), ".txt") }
}
