# Grades tasks of Harbor: see docs/harbor.md.
variable "tasks" {
  type    = string
  default = "tasks"
}
variable "solutions" {
  type    = string
  default = "solutions"
}
variable "job" { # a recorded job whose trials to grade again
  type    = string
  default = ""
}
variable "image" {
  type    = string
  default = ""
}
variable "mode" {
  type    = string
  default = "harbor"
}

backend "local" "host" {
  isolation = "full"
}

backend "docker" "box" {
  image = var.image == "" ? "unused" : var.image
}

problem "tasks" {
  for_each = { for f in fileset(var.tasks, "*/task.toml") : dirname(f) => "${var.tasks}/${dirname(f)}" }
  invalid  = "report"

  harbor {
    task = each.value
    mode = var.mode
  }
}

solution "mine" {
  for_each = { for name, task in problem.tasks : name => task if var.job == "" }
  name     = "mine"
  problem  = each.value
  missing  = "skip"
  source   = checkpoint.name == "main" ? "${var.solutions}/${each.key}" : "${var.solutions}/${each.key}/${checkpoint.name}"
}

solution "recorded" {
  for_each   = toset([for job in [var.job] : job if job != ""])
  harbor_job = each.value
}

suite "tasks" {
  matrix {
    solution = [solution.mine, solution.recorded]
    backend  = var.image == "" ? [backend.local.host] : [backend.docker.box]
  }
}
