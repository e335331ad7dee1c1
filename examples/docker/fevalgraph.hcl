# The quickstart's problem on this machine and in containers, side by side: the
# verdicts are the same.
#
#   fevalgraph run --var image=NAME
#
# Containers need an image with a shell, python3, uv and uvx, for example of
#
#   FROM python:3.12-slim
#   RUN pip install --no-cache-dir uv
#
#   docker build --tag fevalgraph/pytest DIRECTORY_OF_THAT_DOCKERFILE
#
# The image's id is in the keys of what runs in it: after another build with
# other content, those nodes are stale and no others.

variable "image" {
  type        = string
  default     = "fevalgraph/pytest"
  description = "Image of the containers: a name or an id."
}

locals {
  quickstart = "${path.root}/../quickstart"
}

backend "local" "host" {}

backend "docker" "box" {
  image   = var.image
  pull    = "never"
  network = "none" # for the tests; what they need is fetched before
  cpus    = 1
  memory  = "1GiB"
  pids    = 256
}

problem "tally" {
  title   = "Word tally"
  entry   = "python tally.py"
  timeout = "20s"

  pytest {
    root = "${local.quickstart}/problems/tally/tests"
  }

  marker "report" {
    group       = "functionality"
    description = "how the result is laid out"
  }

  asset "texts" {
    source = "${local.quickstart}/problems/tally/texts"
  }

  checkpoint "checkpoint_1" {}
  checkpoint "checkpoint_2" {}
  checkpoint "checkpoint_3" {}

  pass { policy = "core-cases" }
}

solution "reference" {
  problem = problem.tally
  source  = "${local.quickstart}/solutions/reference/${checkpoint.name}"
}

solution "hasty" {
  problem = problem.tally
  source  = "${local.quickstart}/solutions/hasty/${checkpoint.name}"
}

suite "side_by_side" {
  matrix {
    solution = [solution.reference, solution.hasty]
    backend  = [backend.local.host, backend.docker.box]
  }
}
