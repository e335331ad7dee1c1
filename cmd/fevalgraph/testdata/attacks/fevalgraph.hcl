# A problem for each way of judging, a right and a wrong solution of each, and solutions
# that try to be judged as something else than wrong. The test replaces @PROGRAM@ and @SESSION@ by limits in seconds.

variable "image" {
  type    = string
  default = "none"
}

variable "isolation" {
  type    = string
  default = "full"
}

variable "import" {
  type    = string
  default = "separate"
}

variable "solutions" {
  type        = map(list(string))
  description = "Names of solutions of each problem."
}

locals {
  # What installs a submission's packages, and so runs code of theirs.
  setup = "if [ -f setup.sh ]; then timeout @PROGRAM@ sh setup.sh; fi"
}

backend "local" "host" {
  isolation = var.isolation
  setup     = local.setup
}

backend "docker" "box" {
  image = var.image
  pull  = "never"
  setup = local.setup
}

backend "gojudge" "judge" {}

# Tests start the submission as a program. One of them reads what it wants after that.
problem "add" {
  entry               = "python3 main.py"
  timeout             = "@PROGRAM@s"
  session_timeout     = "@SESSION@s"
  max_submission_size = "16MiB"
  pytest { root = "problems/add/tests" }
  checkpoint "one" { before = "python3 -c 'import json'" }
  pass { policy = "core-cases" } # a group is worth something
}

# The grader starts the submission as a program, and reads the rest of its own files afterwards. A lenient one's score
# counts after any exit. The solutions of the last one are confined.
problem "graded" {
  for_each = {
    grade    = { import = null, programs = null, exit_status = null }
    lenient  = { import = null, programs = null, exit_status = "any" }
    confined = { import = "separate", programs = "confined", exit_status = null }
  }
  name                = each.key
  max_submission_size = "16MiB"
  command {
    root     = "problems/grade"
    solution = "answer/main.py"
    import   = each.value.import
    programs = each.value.programs
    argv     = ["bash", "grade.sh"]
    timeout  = "@SESSION@s"
    score {
      from        = "file"
      file        = "score.json"
      pointer     = "/score"
      exit_status = each.value.exit_status
    }
  }
  pass { when = self.score >= 1 }
}

# The grader imports the submission.
problem "imported" {
  max_submission_size = "16MiB"
  command {
    root     = "problems/imported"
    solution = "answer/main.py"
    import   = var.import
    argv     = ["python3", "grade.py"]
    timeout  = "@SESSION@s"
  }
  pass { when = self.score >= 1 }
}

# The tests import the submission.
problem "tested" {
  entry               = "python3 main.py"
  timeout             = "@PROGRAM@s"
  session_timeout     = "@SESSION@s"
  max_submission_size = "16MiB"
  pytest {
    root   = "problems/tested/tests"
    import = var.import
  }
  checkpoint "one" {}
  pass { policy = "core-cases" }
}

# The checker quotes what the submission prints.
problem "judge" {
  name                = "1"
  max_submission_size = "16MiB"
  judge {
    root         = "problems/judge"
    checker      = "checker.cc"
    time         = "2s"
    checker_time = "2s"
    memory       = "256MiB"
    subtask { n_cases = 2 }
  }
}

# The script starts the submission as a program, and writes the reward afterwards.
problem "verify" {
  max_submission_size = "16MiB"
  verifier {
    tests    = "problems/verify"
    solution = "/app/main.py"
    timeout  = "@SESSION@s"
    broken_if {
      file    = "trouble.txt"
      pattern = "network"
    }
  }
  checkpoint "main" {}
}

solution "add" {
  for_each = toset(var.solutions.add)
  name     = each.key
  problem  = problem.add
  source   = "solutions/add/${each.key}"
}

solution "grade" {
  for_each = toset(var.solutions.grade)
  name     = each.key
  problem  = problem.graded["grade"]
  source   = "solutions/grade/${each.key}/main.py"
}

solution "lenient" {
  for_each = toset(var.solutions.lenient)
  name     = each.key
  problem  = problem.graded["lenient"]
  source   = "solutions/lenient/${each.key}/main.py"
}

solution "confined" {
  for_each = toset(var.solutions.confined)
  name     = each.key
  problem  = problem.graded["confined"]
  source   = "solutions/confined/${each.key}/main.py"
}

solution "imported" {
  for_each = toset(var.solutions.imported)
  name     = each.key
  problem  = problem.imported
  source   = "solutions/imported/${each.key}/main.py"
}

solution "tested" {
  for_each = toset(var.solutions.tested)
  name     = each.key
  problem  = problem.tested
  source   = "solutions/tested/${each.key}"
}

solution "judge" {
  for_each = toset(var.solutions.judge)
  name     = each.key
  problem  = problem.judge
  source   = "solutions/judge/${each.key}/main.cpp"
}

solution "verify" {
  for_each = toset(var.solutions.verify)
  name     = each.key
  problem  = problem.verify
  source   = "solutions/verify/${each.key}/main.py"
}
