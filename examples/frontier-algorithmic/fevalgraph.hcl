# Frontier-CS, algorithmic track: every problem of a checkout that has all of its
# test data, with every solution that is there, case by case on go-judge.
#
#   fevalgraph run -C examples/frontier-algorithmic --var root=/data/Frontier-CS
#   fevalgraph run -C examples/frontier-algorithmic --var root=... --var 'problems=["1","2"]' --var 'models=["gpt5"]'
#   fevalgraph run -C examples/frontier-algorithmic --var root=... --var compat=frontier
#   fevalgraph run -C examples/frontier-algorithmic --var root=... --var judge=http://127.0.0.1:8081
#   fevalgraph run -C examples/frontier-algorithmic --var root=... --var backend=skypilot --var infra=slurm/cluster
#
# Nothing here is known to the program: problems are found by fileset, their
# config.yaml is read by yamldecode, and what Frontier-CS's judge does otherwise
# than the defaults is said in attributes.

variable "root" {
  type        = string
  description = "A Frontier-CS checkout"
}

variable "problems" {
  type        = set(string)
  default     = []
  description = "Names of problems; empty for all"
}

variable "models" {
  type        = set(string)
  default     = []
  description = "Names of models; empty for all"
}

variable "variants" {
  type        = set(number)
  default     = []
  description = "Variants of a model's solutions, of which the first is 0; empty for all"
}

variable "incomplete" {
  type        = bool
  default     = false
  description = "Show problems without all of their test data, as errors"
}

variable "compat" {
  type        = string
  default     = "safe"
  description = "How scores are read: safe, or frontier as Frontier-CS's judge reads them"
}

variable "endpoint" {
  type        = string
  default     = ""
  description = "A go-judge that runs already; empty to start one for the run"
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

variable "go_judge" {
  type        = string
  default     = "go-judge"
  description = "go-judge for these machines: the path of a program here, which they get, or a name in PATH there"
}

variable "judge" {
  type        = string
  default     = ""
  description = "Frontier-CS's own judge server, such as http://127.0.0.1:8081, to grade there; empty to grade on go-judge"
}

locals {
  track = "${var.root}/algorithmic"
  files = "${local.track}/problems"

  # What is not asked for is not even listed.
  named = length(var.problems) == 0 ? "*" : "{${join(",", var.problems)}}"

  # A name is read from the directory, not from config.yaml.
  problems = { for path in fileset(local.files, "${local.named}/config.yaml") : dirname(path) => "${local.files}/${dirname(path)}" }

  # A byte order mark at the beginning is no part of the text.
  configs = { for name, dir in local.problems : name => try(yamldecode(trimprefix(file("${dir}/config.yaml"), "\uFEFF")), null) }

  # How the files of numbered cases are called.
  naming = {
    for name, config in local.configs : name => {
      before = first([try(config.input_prefix, null), ""])
      after  = first([try(config.input_suffix, null), ".in"])
      answer = first([try(config.output_prefix, null), ""])
      end    = first([try(config.output_suffix, null), ".ans"])
    }
  }

  # The files of every case, by subtask. Numbers go on from subtask to subtask.
  cases = {
    for name, config in local.configs : name => try([
      for i, subtask in config.subtasks : [
        for c in can(subtask.n_cases) ? [
          for n in range(numbered(slice(config.subtasks, 0, i)) + 1, numbered(slice(config.subtasks, 0, i + 1)) + 1) : {
            input  = "${local.naming[name].before}${n}${local.naming[name].after}"
            output = "${local.naming[name].answer}${n}${local.naming[name].end}"
          }
        ] : [for c in subtask.cases : merge(c, { output = answer("${local.files}/${name}/testdata", c.output) })] : c
      ]
    ], [])
  }

  # A problem that cannot be read at all is complete: it is an error, not left out.
  absent = {
    for name, cases in local.cases : name => [
      for file in flatten([for c in flatten(cases) : [c.input, c.output]]) : file if !fileexists("${local.files}/${name}/testdata/${file}")
    ]
  }
  chosen = { for name, dir in local.problems : name => dir if length(local.absent[name]) == 0 || var.incomplete }
}

# first is the first value that is something, or else the last, as || in
# JavaScript.
function "first" {
  params = [values]
  result = concat([for value in values : value if value != null && value != "" && value != 0 && value != false], [element(values, length(values) - 1)])[0]
}

# numbered is how many cases of subtasks have numbers.
function "numbered" {
  params = [subtasks]
  result = sum(concat([0], [for subtask in subtasks : try(subtask.n_cases, 0)]))
}

# answer is the file of an answer that is called output: 1.ans rather than 1.out.
function "answer" {
  params = [dir, output]
  result = fileexists("${dir}/${regexreplace(output, "\\.out$", ".ans")}") ? regexreplace(output, "\\.out$", ".ans") : output
}

# limit is a time, null for what is none. A number that is no text is one of
# nanoseconds; a text without a unit is one of seconds.
function "limit" {
  params = [time]
  result = try(time + 0 == time, false) ? "${time}ns" : try(join("", [
    for part in [regex("(?i)^([0-9.]+)\\s*(ms|s|)$", time)] : "${tonumber(part[0])}${ { "" = "s", s = "s", ms = "ms" }[lower(part[1])]}"
  ]), null)
}

# size is an amount of memory, null for what is none. Without a unit it is one
# of bytes.
function "size" {
  params = [memory]
  result = try(memory + 0 == memory, false) ? "${memory}B" : try(join("", [
    for part in [regex("(?i)^([0-9.]+)\\s*([kmg]|)$", memory)] : "${tonumber(part[0])}${ { "" = "B", k = "KiB", m = "MiB", g = "GiB" }[lower(part[1])]}"
  ]), null)
}

backend "gojudge" "box" {
  endpoint = var.endpoint == "" ? null : var.endpoint
}

backend "skypilot" "machines" {
  infra        = var.infra
  api          = var.api
  max_clusters = var.clusters
  go_judge     = var.go_judge
}

backend "lightcp" "server" {
  endpoint = var.judge == "" ? "http://127.0.0.1:8081" : var.judge
}

problem "algorithmic" {
  for_each = local.chosen
  name     = each.key
  invalid  = "report" # a bad config.yaml is an error of its problem alone

  locals {
    config = yamldecode(trimprefix(file("${each.value}/config.yaml"), "\uFEFF"))
    type   = first([try(local.config.type, null), "default"])
    time   = first([try(local.config.time_limit, null), try(local.config.time, null), "1s"])
    memory = first([try(local.config.memory_limit, null), try(local.config.memory, null), "256m"])
    subtasks = [
      for i, cases in local.cases[each.key] : {
        cases  = cases
        time   = first([try(local.config.subtasks[i].time_limit, null), try(local.config.subtasks[i].time, null), local.time])
        memory = first([try(local.config.subtasks[i].memory_limit, null), try(local.config.subtasks[i].memory, null), local.memory])
      }
    ]
    times         = concat([for s in local.subtasks : s.time], [for c in flatten(local.cases[each.key]) : c.time if can(c.time)])
    memory_limits = concat([for s in local.subtasks : s.memory], [for c in flatten(local.cases[each.key]) : c.memory if can(c.memory)])
  }
  precondition {
    condition     = contains(["default", "interactive"], local.type)
    error_message = "${each.value}/config.yaml: the type ${local.type} cannot be judged."
  }
  precondition {
    condition     = can(concat(local.config.subtasks)) && alltrue([for s in try(local.config.subtasks, []) : can(s.n_cases + 0) || can(concat(s.cases))])
    error_message = "${each.value}/config.yaml needs a list of subtasks, each with n_cases or cases."
  }
  precondition {
    condition     = try(length(local.config.subtasks) > 0, true)
    error_message = "${each.value}/config.yaml has no subtask, so there is nothing to judge."
  }
  precondition {
    condition     = alltrue([for time in local.times : limit(time) != null])
    error_message = "${each.value}/config.yaml: the time ${join(", ", [for time in local.times : time if limit(time) == null])} cannot be read; write such as 2s or 500ms."
  }
  precondition {
    condition     = alltrue([for memory in local.memory_limits : size(memory) != null])
    error_message = "${each.value}/config.yaml: the memory ${join(", ", [for memory in local.memory_limits : memory if size(memory) == null])} cannot be read; write such as 256m or 1g."
  }
  precondition {
    condition     = length(local.absent[each.key]) == 0
    error_message = "${each.value}/testdata lacks what config.yaml names: ${join(", ", local.absent[each.key])}."
  }

  # Few problems ship one, and none says what it must reach: it must earn something.
  dynamic "reference" {
    for_each = fileset(each.value, "{reference,examples/reference}.cpp")
    iterator = shipped
    content {
      source = "${each.value}/${shipped.value}"
      score  = 0.0001
    }
  }

  judge {
    root       = each.value
    mode       = local.type
    compat     = var.compat
    checker    = local.type == "default" ? first([try(local.config.checker, null), "chk.cc"]) : null
    interactor = local.type == "interactive" ? first([try(local.config.interactor, null), "interactor.cc"]) : null
    include    = ["../../judge/include"] # testlib.h

    # All of testlib is in its header. The last flag drops what a checker does not
    # use before it is optimized, which halves the time and changes no verdict.
    checker_flags = ["-O2", "-pipe", "-std=gnu++17", "-fwhole-program"]

    filename = try(local.config.filename, null)
    output   = "128MiB"

    # Checkers with testlib.h come near the 10 seconds that Frontier-CS gives them.
    compile_time = "60s"

    dynamic "subtask" {
      for_each = local.subtasks
      iterator = subtask
      content {
        dynamic "case" {
          for_each = subtask.value.cases
          content {
            input  = case.value.input
            output = case.value.output
            time   = limit(can(case.value.time) ? case.value.time : subtask.value.time)
            memory = size(can(case.value.memory) ? case.value.memory : subtask.value.memory)
          }
        }
      }
    }
  }
}

locals {
  # MODEL.cpp is variant 0, MODEL_N.cpp is variant N. MODEL.FAILED says that a
  # model gave no answer; it does not count beside an answer.
  found = {
    for path in toset(flatten([
      for model in length(var.models) == 0 ? [""] : tolist(var.models) :
      fileset("${local.track}/solutions", "${local.named}/${model}*.{cpp,FAILED}")
    ])) :
    path => regex("^(?P<problem>[^/]+)/(?P<name>(?P<model>.*?)(?:_(?P<variant>[0-9]+))?)[.](?P<kind>cpp|FAILED)$", path)
    if can(local.chosen[dirname(path)])
  }
  answers = {
    for path, s in local.found : "${s.problem}/${s.name}" => merge(s, { path = "${local.track}/solutions/${path}", variant = s.variant == null ? "0" : s.variant })
    if(length(var.models) == 0 || contains(var.models, s.model)) &&
    (length(var.variants) == 0 || contains(var.variants, s.variant == null ? 0 : tonumber(s.variant))) &&
    (s.kind == "cpp" || !can(local.found["${s.problem}/${s.name}.cpp"]))
  }
}

solution "model" {
  for_each = local.answers
  name     = each.value.name
  problem  = problem.algorithmic[each.value.problem]
  source   = each.value.path
  failed   = each.value.kind == "FAILED" ? "generation failed: ${try(jsondecode(file(each.value.path)).error, "no reason is given")}" : null
  labels   = { model = each.value.model, variant = each.value.variant }
}

suite "default" {
  matrix {
    solution = values(solution.model)
    backend = [
      for place in [backend.gojudge.box, backend.lightcp.server, backend.skypilot.machines] : place
      if place.kind == (var.judge != "" ? "lightcp" : var.backend != "" ? var.backend : "gojudge")
    ]
  }
}

# mean is that of numbers; null for none.
function "mean" {
  params = [numbers]
  result = length(numbers) == 0 ? null : sum(numbers) / length(numbers)
}

result "models" {
  from     = suite.default
  group_by = ["model"]

  metric "solutions" { value = self.cells }
  metric "judged" { value = self.cells_success }
  metric "score" { # of those that were judged, as Frontier-CS counts
    value  = mean([for c in self.checkpoints : c.score if c.class == "judged" && c.score != null])
    format = "%.3f"
  }
  metric "unbounded" {
    value  = mean([for c in self.checkpoints : c.score_unbounded if c.class == "judged" && c.score_unbounded != null])
    format = "%.3f"
  }
  metric "of_all" {
    value  = sum(concat([0], [for c in self.checkpoints : c.score if c.class == "judged" && c.score != null])) / max(self.cells, 1)
    format = "%.3f"
  }
  sort = ["-score", "model"]
}

result "problems" {
  from     = suite.default
  group_by = ["problem"]

  metric "solutions" { value = self.cells }
  metric "judged" { value = self.cells_success }
  metric "score" { # of those that were judged, as Frontier-CS counts
    value  = mean([for c in self.checkpoints : c.score if c.class == "judged" && c.score != null])
    format = "%.3f"
  }
  metric "unbounded" {
    value  = mean([for c in self.checkpoints : c.score_unbounded if c.class == "judged" && c.score_unbounded != null])
    format = "%.3f"
  }
  metric "of_all" {
    value  = sum(concat([0], [for c in self.checkpoints : c.score if c.class == "judged" && c.score != null])) / max(self.cells, 1)
    format = "%.3f"
  }
  sort = ["problem"]
}
