# Verdicts of every kind, in containers: green, red, killed by the submission
# itself, over the limit.

variable "image" {}

variable "attempts" {
  default = 1
}

backend "docker" "box" {
  image = var.image
  pull  = "never"
  setup = "true" # on a network of the cell's own; the tests have none

  retry {
    attempts = var.attempts
    wait     = "1s"
  }
}

problem "kv" {
  entry = "python kv.py"
  pytest { root = "tests" }
  checkpoint "one" {}
  checkpoint "two" {}
}

problem "endless" {
  entry           = "python kv.py"
  session_timeout = "3s"
  pytest { root = "endless" }
  checkpoint "one" {}
}

solution "kv" {
  for_each = ["good", "wrong", "wild"]
  name     = each.value
  problem  = problem.kv
  source   = "solutions/${each.value}/${checkpoint.name}"
  missing  = "omit"
}

solution "late" {
  problem = problem.endless
  source  = "solutions/good/${checkpoint.name}"
}
