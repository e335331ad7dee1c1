# The quickstart's problem on this machine and in containers, side by side: the
# verdicts are the same.
#
#   fevalgraph run                        builds the image of box/Dockerfile
#   fevalgraph run --var image=NAME       uses one that is there
#
# Containers need an image with a shell, python3, uv and uvx. What the image is, is
# in the keys of what runs in it: after another build with other content, or under
# a name that has come to mean another image, those nodes are stale and no others.

variable "image" {
  type        = string
  default     = ""
  description = "Image of the containers: a name or an id. By default it is built."
}

variable "base" {
  type        = string
  default     = "python:3.12-slim"
  description = "Image to build on: with Python 3, and pip or uv."
}

locals {
  quickstart = "${path.root}/../quickstart"
}

backend "local" "host" {}

backend "docker" "box" {
  image      = var.image != "" ? var.image : null
  dockerfile = var.image == "" ? "box/Dockerfile" : null
  build_args = var.image == "" ? { BASE = var.base } : null
  cpus       = 1
  memory     = "1GiB"
  pids       = 256
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
