# Grades tasks of Harbor: see docs/harbor.md.
variable "tasks" {
  type    = string
  default = "tasks"
}
variable "solutions" {
  type    = string
  default = "solutions"
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
  for_each = problem.tasks
  name     = "mine"
  problem  = each.value
  missing  = "skip"
  source   = checkpoint.name == "main" ? "${var.solutions}/${each.key}" : "${var.solutions}/${each.key}/${checkpoint.name}"
}

suite "tasks" {
  matrix {
    solution = solution.mine
    backend  = var.image == "" ? [backend.local.host] : [backend.docker.box]
  }
}
