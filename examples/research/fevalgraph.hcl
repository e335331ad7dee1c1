# Two open-ended problems, each with its own grader: one writes the score to a
# file, the other prints it.
#
#   fevalgraph run
#   fevalgraph run --var image=NAME
#
# NAME is an image with a shell and Python 3, such as python:3.12-slim. With it,
# everything is also judged in containers without a network.

variable "image" {
  type        = string
  default     = ""
  description = "Image of the containers. By default there are none."
}

backend "local" "host" {}

backend "docker" "box" {
  image  = var.image == "" ? "python:3.12-slim" : var.image
  pull   = "never"
  cpus   = 1
  memory = "512MiB"
}

# Marks on a ruler such that no two pairs have the same distance. Shorter is
# better. The grader runs the solution in a separate process, which cannot write
# the file with the score.
problem "ruler" {
  title = "A short ruler"
  tags  = ["combinatorics"]

  command {
    root      = "problems/ruler"
    directory = "research/ruler"
    solution  = "answer/solution.py"
    argv      = ["python3", "evaluate.py"]
    timeout   = "1m"
    score {
      from              = "file"
      file              = "results.json"
      pointer           = "/score"
      pointer_unbounded = "/score_unbounded"
    }
  }
  asset "common" {
    source = "problems/common"
    target = "research/common"
  }
  pass { when = self.score >= 50 }
}

# A function that fits measured points, including some that it is not given. The
# last line of numbers is the score.
problem "curve" {
  title = "A curve through noise"
  tags  = ["regression"]

  command {
    root      = "problems/curve"
    directory = "research/curve"
    solution  = "answer/solution.py"
    setup     = "python3 make_points.py >points.txt"
    run       = "python3 evaluate.py points.txt"
    env       = { SEED = "7" }
    timeout   = "1m"
  }
  asset "common" {
    source = "problems/common"
    target = "research/common"
  }
}

solution "ruler" {
  for_each = toset(["doubling", "greedy", "broken"])
  name     = each.key
  problem  = problem.ruler
  source   = "solutions/ruler/${each.key}.py"
  labels   = { model = each.key }
}

solution "curve" {
  for_each = toset(["mean", "nearest"])
  name     = each.key
  problem  = problem.curve
  source   = "solutions/curve/${each.key}.py"
  labels   = { model = each.key }
}

suite "research" {
  matrix {
    solution = concat(values(solution.ruler), values(solution.curve))
    backend  = var.image == "" ? [backend.local.host] : [backend.local.host, backend.docker.box]
  }
}
