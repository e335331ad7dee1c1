# SlopCodeBench: every problem of a checkout, graded with its own solutions, or
# with what an agent left in a run directory.
#
#   fevalgraph run -C examples/scbench --var root=/data/slop-code-bench
#   fevalgraph run -C examples/scbench --var root=... problem=file_backup
#   fevalgraph run -C examples/scbench --var root=... --var run=/data/outputs/run-1
#   fevalgraph run -C examples/scbench --var root=... --var image=IMAGE   in containers
#
# Nothing here is known to the program: problems are found by fileset, their
# config.yaml is read by yamldecode, and what SlopCodeBench does otherwise than
# the defaults is said in attributes.

variable "root" {
  type        = string
  description = "A SlopCodeBench checkout"
}

variable "run" {
  type        = string
  default     = ""
  description = "An agent's run directory, RUN/<problem>/<checkpoint>/snapshot; empty for the problems' own solutions"
}

variable "environment" {
  type        = string
  default     = ""
  description = "Environment file with set-up and entry commands; empty for the run's environment.yaml, or else the checkout's local-py.yaml"
}

variable "python" {
  type        = string
  default     = ""
  description = "Python for uv, such as 3.12, which some of the solutions need; empty for uv's choice"
}

variable "image" {
  type        = string
  default     = ""
  description = "Image with Python and uv, to grade in containers of it; empty for this machine"
}

variable "out" {
  type        = string
  default     = "build/scbench"
  description = "Where evaluation.json and the other files of SlopCodeBench go"
}

locals {
  problems = {
    for path in fileset("${var.root}/problems", "*/config.yaml") :
    dirname(path) => "${var.root}/problems/${dirname(path)}"
  }

  # Problems whose servers listen on a port that cannot be chosen.
  ports = {
    eve_market_tools = [8000]
    trajectory_api   = [8080]
  }

  # Their tests have no network but their own, so that what `uv run` would fetch
  # at its first call must be there before.
  synced = { for name, ports in local.ports : name => ["uv sync"] }

  # The first of these that there is; SlopCodeBench's local environment else.
  environment_files = [for path in compact([
    var.environment,
    var.run == "" ? "" : "${var.run}/environment.yaml",
    "${var.root}/configs/environments/local-py.yaml",
  ]) : path if path == var.environment || fileexists(path)]
  environment = yamldecode(length(local.environment_files) > 0 ? file(local.environment_files[0]) : <<-YAML
    setup: { eval_commands: [uv init, uv add -r requirements.txt] }
    commands: { command: uv run, entry_file: "{entry_file}.py" }
  YAML
  )
  # Every submission brings its own requirements; tests start it by `uv run`.
  setup    = concat(try(local.environment.setup.commands, []), try(local.environment.setup.eval_commands, []))
  snapshot = try(local.environment.snapshot.ignore_globs, ["*.pyc", "venv/*", ".venv/*", ".evaluation_tests/*"])
  entry    = "${try(local.environment.commands.command, "python")} ${try(local.environment.commands.entry_file, "{entry_file}")}"
}

backend "local" "uv" {
  python   = var.python
  versions = ["node --version", "g++ -dumpfullversion", "rustc --version"] # what tests of dynamic_buffer call

  # A container's variables name places in the container.
  env   = try({ for name, value in local.environment.environment.env : name => value if local.environment.type == "local" }, {})
  setup = local.setup
}

# SlopCodeBench's containers reach the network while tests run, so these do, too.
backend "docker" "uv" {
  image   = var.image == "" ? "unused" : var.image
  network = "bridge"
  python  = var.python
  env     = try({ for name, value in local.environment.environment.env : name => value if local.environment.type == "docker" }, {})
  setup   = local.setup
}

suite "default" {
  matrix {
    solution = [solution.reference, solution.agent]
    backend  = [for place in [backend.local.uv, backend.docker.uv] : place if (place.kind == "docker") == (var.image != "")]
  }
}

# text is a string of YAML; anything else is an error, also a number.
function "text" {
  params = [value]
  result = jsondecode(regex("^\".*\"$", jsonencode(value)))
}

problem "scbench" {
  for_each = local.problems
  invalid  = "report" # a bad config.yaml is an error of its problem alone

  locals {
    config      = yamldecode(file("${each.value}/config.yaml"))
    checkpoints = try(merge(local.config.checkpoints), {})
    markers     = try(merge(local.config.markers), {})
    groups      = { Core = "core", Functionality = "functionality", Regression = "regression", Error = "error" }

    # What SlopCodeBench's own loader refuses.
    environments = merge(
      { env = try(local.config.env, {}) },
      { for name, c in local.checkpoints : "checkpoints.${name}.env" => try(c.env, {}) },
    )
    limits = merge(
      { timeout = try(local.config.timeout, null) },
      { for name, c in local.checkpoints : "checkpoints.${name}.timeout" => try(c.timeout, null) },
    )
    known = ["name", "version", "order", "state", "include_prior_tests", "spec_override", "env", "timeout"]
    mistakes = concat(
      [for key in ["name", "description", "entry_file"] : "${key} is missing, or no string" if !can(text(local.config[key]))],
      [for version in [try(local.config.version, null)] : "version is missing" if version == null],
      [for tags in [try(local.config.tags, ["none"])] : "tags must not be empty, but may be left out" if try(length(tags), 0) == 0],
      [for level in [try(local.config.difficulty, "Easy")] : "difficulty must be Easy, Medium or Hard" if !contains(["Easy", "Medium", "Hard"], level)],
      [for list in [try(local.config.test_dependencies, [])] : "test_dependencies must be a list" if !can(concat(list))],
      [for all in [try(local.config.checkpoints, {})] : "checkpoints must be a map" if !can(keys(all))],
      [for name, c in local.checkpoints : "checkpoints.${name} must be a map" if !can(keys(c))],
      flatten([for name, c in local.checkpoints : [for key in try(keys(c), []) : "checkpoints.${name} has the unknown key ${key}" if !contains(local.known, key)]]),
      [for name, c in local.checkpoints : "checkpoints.${name}.version is missing" if can(keys(c)) && try(c.version, null) == null],
      [for owner, limit in local.limits : "${owner} must be a number" if !can(tonumber(limit))],
      [for name, m in local.markers : "markers.${name}.group must be one of ${join(", ", keys(local.groups))}" if !can(local.groups[m.group])],
      [for name, m in local.markers : "markers.${name}.description is missing" if !can(text(m.description))],
      flatten([for owner, env in local.environments : [for key, value in env : "${owner}.${key} must be a string" if !can(text(value))]]),
    )
  }

  precondition {
    condition     = length(local.mistakes) == 0
    error_message = "${each.value}/config.yaml: ${join("; ", local.mistakes)}."
  }

  name       = each.key
  title      = each.key
  version    = local.config.version
  tags       = try(local.config.tags, [])
  author     = try(local.config.author, null)
  category   = try(local.config.category, null)
  difficulty = try(local.config.difficulty, null)
  entry      = trimspace(replace(local.entry, "{entry_file}", local.config.entry_file))
  env        = try(local.config.env, {})

  # SlopCodeBench's limit is for each test; it has none for the session.
  session_timeout = "2h"

  pytest {
    root          = "${each.value}/tests"
    directory     = ".evaluation_tests"
    asset_paths   = "relative"
    missing_tests = "skip"
    requires      = try(local.config.test_dependencies, [])
    ports         = try(local.ports[each.key], [])
  }

  dynamic "marker" {
    for_each = local.markers
    labels   = [marker.key]
    content {
      group       = local.groups[marker.value.group]
      description = marker.value.description
    }
  }

  dynamic "asset" {
    for_each = try(merge(local.config.static_assets), {})
    labels   = [asset.key]
    content {
      source = "${each.value}/${asset.value.path}"
    }
  }

  dynamic "checkpoint" {
    for_each = local.checkpoints
    labels   = [checkpoint.key]
    content {
      version             = checkpoint.value.version
      order               = try(checkpoint.value.order, null)
      state               = try(checkpoint.value.state, null)
      include_prior_tests = !contains(["false", "no", "off", "0"], lower(try(tostring(checkpoint.value.include_prior_tests), "yes")))
      env                 = try(checkpoint.value.env, {})
      timeout             = limit(coalesce(try(checkpoint.value.timeout, local.limits.timeout), 0))
    }
  }

  pass { policy = "core-cases" }
}

# limit is a number of seconds as SlopCodeBench takes it: cut to whole seconds,
# where 0 is none.
function "limit" {
  params = [seconds]
  result = floor(seconds) > 0 ? "${floor(seconds)}s" : null
}

locals {
  # A snapshot leaves out what lies where the problem's assets go.
  ignore = {
    for name, path in local.problems : name => concat(local.snapshot, ["tests/assets", "tests/assets/*"], try(flatten([
      for asset in values(yamldecode(file("${path}/config.yaml")).static_assets) :
      [try(asset.save_path, asset.path), "${try(asset.save_path, asset.path)}/*"]
    ]), []))
  }
}

solution "reference" {
  for_each = { for name, path in local.problems : name => path if var.run == "" }

  name          = "reference"
  problem       = problem.scbench[each.key]
  source        = "${each.value}/solutions/${checkpoint.name}"
  missing       = "omit"
  files         = "plain"
  ignore        = local.ignore[each.key]
  ignore_syntax = "fnmatch"
  setup         = try(local.synced[each.key], [])
}

solution "agent" {
  for_each = { for name, path in local.problems : name => path if var.run != "" }

  name          = "agent"
  problem       = problem.scbench[each.key]
  source        = "${var.run}/${each.key}/${checkpoint.name}/snapshot"
  missing       = "skip" # a checkpoint that the agent never reached
  files         = "plain"
  ignore        = local.ignore[each.key]
  ignore_syntax = "fnmatch"
  setup         = try(local.synced[each.key], [])
}

export "scbench" "tree" {
  from = suite.default
  path = var.out
}
