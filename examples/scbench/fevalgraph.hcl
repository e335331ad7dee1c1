# SlopCodeBench: every problem of a checkout, graded with its own solutions, or
# with what an agent left in a run directory.
#
#   fevalgraph run -C examples/scbench --var root=/data/slop-code-bench
#   fevalgraph run -C examples/scbench --var root=... problem=file_backup
#   fevalgraph run -C examples/scbench --var root=... --var run=/data/outputs/run-1
#
# Nothing here is known to the program: problems are found by fileset, their
# config.yaml is read by yamldecode, and what SCBench does otherwise than the
# defaults is said in attributes.

variable "root" {
  type        = string
  description = "A SlopCodeBench checkout"
}

variable "run" {
  type        = string
  default     = ""
  description = "An agent's run directory, RUN/<problem>/<checkpoint>/snapshot; empty for the problems' own solutions"
}

variable "out" {
  type        = string
  default     = "build/scbench"
  description = "Where evaluation.json and the other files of SlopCodeBench go"
}

locals {
  configs = {
    for path in fileset("${var.root}/problems", "*/config.yaml") :
    dirname(path) => yamldecode(file("${var.root}/problems/${path}"))
  }
}

backend "local" "uv" {
  inherit = ["PATH"]

  # Every submission brings its own requirements; tests start it by `uv run`.
  setup = [
    "uv init",
    "uv add -r requirements.txt",
  ]
}

problem "scbench" {
  for_each = local.configs

  name       = each.key
  title      = each.key
  version    = each.value.version
  tags       = try(each.value.tags, [])
  category   = try(each.value.category, null)
  difficulty = try(each.value.difficulty, null)
  entry      = "uv run ${each.value.entry_file}.py"
  env        = try(each.value.env, {})

  # SCBench's limit is for each test, and it has none for the session.
  timeout         = try("${each.value.timeout}s", null)
  session_timeout = "2h"

  pytest {
    root      = "${var.root}/problems/${each.key}/tests"
    directory = ".evaluation_tests"
    requires  = try(each.value.test_dependencies, [])
  }

  dynamic "marker" {
    for_each = try(each.value.markers, {})
    labels   = [marker.key]
    content {
      group       = lower(marker.value.group)
      description = marker.value.description
    }
  }

  dynamic "asset" {
    for_each = try(each.value.static_assets, {})
    labels   = [asset.key]
    content {
      source = "${var.root}/problems/${each.key}/${asset.value.path}"
    }
  }

  dynamic "checkpoint" {
    for_each = each.value.checkpoints
    labels   = [checkpoint.key]
    content {
      version             = checkpoint.value.version
      order               = try(checkpoint.value.order, null)
      state               = try(checkpoint.value.state, null)
      include_prior_tests = try(checkpoint.value.include_prior_tests, true)
      env                 = try(checkpoint.value.env, {})

      # A checkpoint's null is no limit, and not the problem's.
      timeout = can(checkpoint.value.timeout) ? try("${checkpoint.value.timeout}s", null) : try("${each.value.timeout}s", null)
    }
  }

  pass { policy = "core-cases" } # a checkpoint without core tests passes it, as in SlopCodeBench
}

solution "reference" {
  for_each = { for name, config in local.configs : name => config if var.run == "" }

  name    = "reference"
  problem = problem.scbench[each.key]
  source  = "${var.root}/problems/${each.key}/solutions/${checkpoint.name}"
  missing = "skip"
}

solution "agent" {
  for_each = { for name, config in local.configs : name => config if var.run != "" }

  name    = "agent"
  problem = problem.scbench[each.key]
  source  = "${var.run}/${each.key}/${checkpoint.name}/snapshot"
  missing = "skip" # a checkpoint that the agent never reached
}

export "scbench" "tree" {
  from = suite.default
  path = var.out
}
