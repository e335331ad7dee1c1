# The research problems of a Frontier-CS checkout, read where they are.
#
#   fevalgraph run --var root=/path/to/Frontier-CS --var 'models=["gpt5","grok4"]'
#   fevalgraph run --var root=... --var image=python:3.11-slim --var families='["cloudcast"]'
#   fevalgraph run --var root=... --var backend=skypilot --var infra=slurm/cluster --var clusters=4
#
# A problem is a directory with a grader, evaluator.py or evaluate.sh, and a
# config.yaml beside it; its name is its path below research/problems. Files that
# its parents keep in a directory called common are laid beside it, as there. A
# solution is research/solutions/<problem>/<model>.py, or <model>_<n>.py for a
# further attempt; <model>.FAILED in its place says that the model gave none.
# A reference.py beside a grader is what `fevalgraph validate --reference` judges.

variable "root" {
  type        = string
  description = "A checkout of Frontier-CS."
}

variable "families" {
  type        = set(string)
  default     = ["cant_be_late", "cant_be_late_multi", "cloudcast", "grammar_fuzzing", "symbolic_regression"]
  description = "First parts of the names of problems to judge. The default are those that need neither a GPU nor a download of their own."
}

variable "models" {
  type        = set(string)
  default     = []
  description = "Models whose solutions are judged; empty is every one."
}

variable "attempts" {
  type        = number
  default     = 1
  description = "How many attempts of each model are judged, from the first."
}

variable "image" {
  type        = string
  default     = ""
  description = "Image of containers to run in, with a shell, Python 3 and uv. Empty runs on this machine, where nothing keeps a solution in its place."
}

variable "backend" {
  type        = string
  default     = ""
  description = "skypilot judges on machines that SkyPilot launches; empty judges here"
}

variable "infra" {
  type        = string
  default     = "slurm"
  description = "Where SkyPilot launches machines, such as slurm/cluster or gcp/us-central1"
}

variable "api" {
  type        = string
  default     = "local"
  description = "SkyPilot's API server, or \"local\""
}

variable "clusters" {
  type        = number
  default     = 1
  description = "Clusters of machines with the same resources at once"
}

variable "own_images" {
  type        = bool
  default     = false
  description = "Run each problem in the image that its config.yaml names, in place of image."
}

locals {
  problems  = "${var.root}/research/problems"
  solutions = "${var.root}/research/solutions"

  # Files of these directories are not problems, whatever they are called.
  graders = [
    for f in concat(sort(fileset(local.problems, "**/evaluator.py")), sort(fileset(local.problems, "**/evaluate.sh"))) : dirname(f)
    if !can(regex("(^|/)(common|resources|__pycache__|\\.[^/]*)(/|$)", dirname(f)))
  ]
  names = toset([for n in local.graders : n if contains(var.families, split("/", n)[0])])

  # The file of each model's attempt on each problem, a failed one's marker if
  # there is no other.
  files = { for f in sort(fileset(local.solutions, "**")) : f => regex("^(?:(.*)/)?([^/]*?)(?:_([0-9]+))?\\.([^./]+)$", f)
  if can(regex("^(.+)/([^/]+)\\.([^./]+)$", f)) && contains(local.names, dirname(f)) }
  answers = {
    for f, p in local.files : "${p[0]}/${p[1]}${p[2] == null ? "" : "_${p[2]}"}" => merge({ file = f, problem = p[0], model = p[1], failed = p[3] == "FAILED" }, { attempt = p[2] == null ? 0 : tonumber(p[2]) })...
    if(length(var.models) == 0 || contains(var.models, p[1])) && (p[2] == null ? 0 : tonumber(p[2])) < var.attempts
  }
  # What config.yaml may say. Graders read some of it themselves.
  known = concat(
    ["tag", "dependencies", "datasets", "variant_id", "runtime"],
    [for k in ["timeout_seconds", "requires_gpu", "environment", "language", "docker", "resources"] : "runtime.${k}"],
    [for k in ["accelerators", "instance_type", "cpus", "memory", "disk_tier", "disk_size", "cloud", "region", "image_id"] : "runtime.resources.${k}"],
    [for k in ["image", "gpu", "dind"] : "runtime.docker.${k}"],
  )
  containers = var.image != ""
}

backend "local" "host" {
  versions = ["bash --version", "tar --version"]
}

# Frontier-CS's containers reach the network while graders run, so these do, too.
backend "docker" "box" {
  image   = var.image == "" ? "python:3.11-slim-trixie" : var.image
  network = "bridge"
  workdir = "/work"
}

# Each problem's resources select the machines.
backend "skypilot" "machines" {
  infra        = var.infra
  api          = var.api
  max_clusters = var.clusters
  versions     = ["bash --version", "tar --version"]
}

problem "research" {
  for_each = local.names
  name     = each.key
  invalid  = "report"
  tags     = compact([try(tostring(local.config.tag), "")])
  category = split("/", each.key)[0]

  locals {
    path   = "${local.problems}/${each.key}"
    config = yamldecode(fileexists("${local.path}/config.yaml") ? file("${local.path}/config.yaml") : "{}")

    runtime   = try(local.config.runtime, {})
    resources = try(local.runtime.resources, {})
    depth     = length(split("/", each.key))
    parents   = [for i in range(1, local.depth) : join("/", slice(split("/", each.key), 0, i))]
    uv        = try(local.config.dependencies.uv_project, null)
    timeout   = try(tonumber(local.runtime.timeout_seconds), 0)
    gpu = anytrue([
      try(local.runtime.requires_gpu == true, false), try(local.runtime.docker.gpu == true, false),
      try(length(local.resources.accelerators) > 0, false),
    ])
  }
  precondition {
    condition     = fileexists("${local.path}/evaluate.sh")
    error_message = "There is no evaluate.sh in ${local.path}."
  }

  precondition {
    condition     = can(keys(local.config))
    error_message = "${local.path}/config.yaml is not a mapping."
  }
  precondition {
    severity = "warning"
    condition = length(setsubtract(concat(
      try(keys(local.config), []),
      [for k in try(keys(local.runtime), []) : "runtime.${k}"],
      [for k in try(keys(local.resources), []) : "runtime.resources.${k}"],
      [for k in try(keys(local.runtime.docker), []) : "runtime.docker.${k}"],
    ), local.known)) == 0
    error_message = "${local.path}/config.yaml has settings that nothing here heeds."
  }

  command {
    root      = local.path
    directory = "research/${each.key}"
    solution  = "execution_env/solution_env/solution.py"
    setup = compact([
      # Elsewhere than in a container, /work is the workspace.
      local.containers ? "" : "work=$${PWD%/research/${each.key}}; grep -rlI /work/ \"$work/research\" | xargs -r sed -i \"s|/work/|$work/|g\"",
      "find . ${join(" ", [for p in local.parents : "${join("/", [for i in range(local.depth - length(split("/", p))) : ".."])}/common"])} -name '*.sh' -exec chmod +x {} + 2>/dev/null || true",
      "if [ -f set_up_env.sh ]; then ./set_up_env.sh; fi",
    ])
    run          = "./evaluate.sh"
    uv_project   = local.uv != null && local.uv != "" ? local.uv : null
    uv_overrides = try(fileexists("${local.path}/${local.uv}/uv_overrides.txt"), false) ? "uv_overrides.txt" : null
    timeout      = "${local.timeout > 0 ? local.timeout : 1800}s"
    gpu          = local.gpu
    score {
      from   = "output"
      compat = "frontier"
    }
    docker {
      image = var.own_images ? try(local.runtime.docker.image, "python:3.11-slim-trixie") : null
      dind  = try(local.runtime.docker.dind, false) == true
    }
  }

  # None says what it must reach: it must earn something.
  dynamic "reference" {
    for_each = fileset(local.path, "reference.py")
    iterator = shipped
    content {
      source = "${local.path}/${shipped.value}"
      score  = 0.0001
    }
  }

  resources {
    accelerators = try(tostring(local.resources.accelerators), local.gpu ? "L4:1" : null)
    cloud        = try(tostring(local.resources.cloud), null)
    region       = try(tostring(local.resources.region), null)
    instance     = try(tostring(local.resources.instance_type), null)
    cpus         = try(tostring(local.resources.cpus), null)
    memory       = try(tostring(local.resources.memory), null)
    disk         = try(tostring(local.resources.disk_size), null)
    image        = try(tostring(local.resources.image_id), null)
  }

  dynamic "asset" {
    for_each = { for p in local.parents : p => "${local.problems}/${p}/common" if length(fileset("${local.problems}/${p}", "common/**")) > 0 }
    labels   = ["common of ${asset.key}"]
    content {
      source = asset.value
      target = "research/${asset.key}/common"
      ignore = ["**/__pycache__/**"]
    }
  }
}

solution "answer" {
  for_each = { for k, v in local.answers : k => [for one in v : one if !one.failed || length(v) == 1][0] }
  name     = each.value.attempt == 0 ? each.value.model : "${each.value.model}_${each.value.attempt}"
  problem  = problem.research[each.value.problem]
  source   = "${local.solutions}/${each.value.file}"
  failed   = each.value.failed ? try(jsondecode(file("${local.solutions}/${each.value.file}")).error, "Generation failed") : null
  labels   = { model = each.value.model, attempt = each.value.attempt }
}

suite "research" {
  matrix {
    solution = values(solution.answer)
    backend  = [var.backend == "skypilot" ? backend.skypilot.machines : local.containers ? backend.docker.box : backend.local.host]
  }
}

function "mean" {
  params = [numbers]
  result = length(numbers) == 0 ? null : sum(numbers) / length(numbers)
}

# Scores are those of what was judged, cut to 0 to 100 as Frontier-CS counts them;
# unbounded ones are as they are.
result "models" {
  from     = suite.research
  group_by = ["model"]

  metric "solutions" { value = self.cells }
  metric "judged" { value = self.cells_success }
  metric "score" {
    value  = mean([for c in self.checkpoints : max(0, min(100, c.score)) if c.class == "judged" && c.score != null])
    format = "%.3f"
  }
  metric "unbounded" {
    value  = mean([for c in self.checkpoints : c.score_unbounded if c.class == "judged" && c.score_unbounded != null])
    format = "%.3f"
  }
  sort = ["-score", "model"]
}

result "problems" {
  from     = suite.research
  group_by = ["problem"]

  metric "solutions" { value = self.cells }
  metric "judged" { value = self.cells_success }
  metric "score" {
    value  = mean([for c in self.checkpoints : max(0, min(100, c.score)) if c.class == "judged" && c.score != null])
    format = "%.3f"
  }
  metric "unbounded" {
    value  = mean([for c in self.checkpoints : c.score_unbounded if c.class == "judged" && c.score_unbounded != null])
    format = "%.3f"
  }
  sort = ["problem"]
}
