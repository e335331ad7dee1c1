# Validates problems with solutions of known results: `fevalgraph validate --reference --repeat 5`.
#
#   tasks/NAME/tests          tests: each test_*.py is a checkpoint
#   tasks/NAME/solution       must pass
#   tasks/NAME/cheats/NAME    must fail every checkpoint, like the empty program
#
# For each Harbor task in var.harbor, solution/solve.sh must pass and a no-op must fail.
variable "harbor" {
  type    = string
  default = ""
}

backend "local" "host" {}

backend "docker" "box" { # each Harbor task has its own image
  image = "unused"
}

problem "harbor" {
  for_each = { for f in var.harbor == "" ? [] : fileset(var.harbor, "*/task.toml") : dirname(f) => "${var.harbor}/${dirname(f)}" }
  harbor {
    task = each.value
    mode = "artifacts"
  }
}

problem "tasks" {
  for_each = dirs("tasks", "*")
  name     = each.value
  entry    = "python main.py"

  pytest { root = "tasks/${each.value}/tests" }

  reference {
    name   = "solution"
    source = "tasks/${each.value}/solution"
  }
  reference {
    name   = "empty"
    source = "empty"
    expect = "fail"
  }
  dynamic "reference" {
    for_each = dirs(".", "tasks/${each.value}/cheats/*")
    content {
      name   = basename(reference.value)
      source = reference.value
      expect = "fail"
    }
  }
}
