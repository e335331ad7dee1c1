# Cells on workers of an engine with two platforms. What solutions earn, the tests write.

variable "endpoint" { default = "127.0.0.1:1" }
variable "state" { default = "127.0.0.1:1" }
variable "program" { default = null }
variable "nap" { default = "0" }

backend "remote" "a" {
  endpoint = "grpc://${var.endpoint}"
  state    = var.state
  program  = var.program
  platform = { OSFamily = "linux", pool = "a" }
}

backend "remote" "b" {
  endpoint = "grpc://${var.endpoint}"
  state    = var.state
  program  = var.program
  platform = { OSFamily = "linux", pool = "b" }
}

problem "grade" {
  command {
    root     = "grade"
    solution = "answer.txt"
    argv     = ["sh", "grade.sh"]
    env      = { NAP = var.nap }
  }
}

solution "grade" {
  for_each = toset(fileset("answers", "*.txt"))
  name     = trimsuffix(each.key, ".txt")
  problem  = problem.grade
  source   = "answers/${each.key}"
}
