# Checks problems by solutions with known results: `fevalgraph validate --reference --repeat 5`.
#
#   tasks/NAME/tests          its tests: each test_*.py is a checkpoint
#   tasks/NAME/solution       passes
#   tasks/NAME/cheats/NAME    pass no checkpoint, like the empty program
#
# Of Harbor tasks in the directory var.harbor, solution/solve.sh passes, and a no-op does not.
variable "harbor" {
  type    = string
  default = ""
}

backend "local" "host" {}

backend "docker" "box" { # for Harbor's tasks, which have their own images
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
