# Generates solutions with models, and grades them. The models are a script, so
# this needs no network and costs nothing.
#
#   fevalgraph gen --dry-run   lists the prompts to send
#   fevalgraph gen             sends them, and writes files below generated/
#   fevalgraph run             grades the generated solutions

problem "countdown" {
  title = "Countdown"
  spec  = "problems/countdown/statement.md"

  command {
    root      = "problems/countdown"
    directory = "problem"
    solution  = "solution/countdown.sh"
    argv      = ["sh", "grade.sh"]
    timeout   = "10s"
    score { from = "stdout" }
  }
}

# Instead of command, a real model has, for example:
#
#   endpoint = "https://models.example.com/v1"
#   keys     = secret.lab
generator "models" {
  for_each = toset(["keen", "modest"])
  command  = ["sh", "models/pretend.sh", each.key]
  model    = each.key
  attempts = 2
  file     = "countdown.sh"
  prompt   = <<-EOT
    ${self.spec}
    This is attempt ${self.attempt}.
    Answer with one fenced block of code, the whole of ${self.file}.
  EOT
}

locals {
  attempts = {
    for record in fileset(".", "generated/models/*/countdown/*.json") : trimsuffix(record, ".json") => jsondecode(file(record)).labels
  }
}

solution "generated" {
  for_each = local.attempts
  name     = "${each.value.model}-${each.value.attempt}"
  problem  = problem.countdown
  source   = "${each.key}/countdown.sh"
  failed   = fileexists("${each.key}.FAILED") ? trimspace(file("${each.key}.FAILED")) : null
  labels   = each.value
}

suite "all" {}

result "models" {
  from     = suite.all
  group_by = ["model"]
  metric "attempts" { value = self.cells }
  metric "answered" { value = self.scored }
  metric "score" { value = self.score }
  sort = ["-score"]
}
