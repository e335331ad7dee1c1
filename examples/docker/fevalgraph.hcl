# Runs the quickstart's problem on this machine and in containers. The verdicts
# are the same.
#
#   fevalgraph run                        builds the image of box/Dockerfile
#   fevalgraph run --var image=NAME       uses an existing image
#
# The image must contain a shell, python3, uv and uvx. The keys of nodes that run
# in it contain its id: after a build with other content, or if the name refers to
# another image, only those nodes are stale.

variable "image" {
  type        = string
  default     = ""
  description = "Name or id of the containers' image. By default it is built."
}

variable "base" {
  type        = string
  default     = "python:3.12-slim"
  description = "Base image, with Python 3 and with pip or uv."
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
