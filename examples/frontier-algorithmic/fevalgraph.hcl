# Frontier-CS, algorithmic track: judges every problem of a checkout with complete test data, case by case.
#   fevalgraph run --var root=DIRECTORY [--var backend=skypilot] [problem=1,label.model=gpt5]
variable "root" { type = string }
variable "compat" { default = "safe" }       # frontier: read scores as Frontier-CS's judge does
variable "backend" { default = "gojudge" }   # or skypilot, or lightcp, Frontier-CS's own judge server
variable "endpoint" { default = null }       # of go-judge or of that server
variable "go_judge" { default = "go-judge" } # for SkyPilot's machines: a path here, or a name in PATH there
variable "infra" { default = "slurm" }
variable "api" { default = "local" }
variable "clusters" { default = 1 }
backend "gojudge" "box" { endpoint = var.endpoint }
backend "lightcp" "server" { endpoint = var.endpoint == null ? "http://127.0.0.1:8081" : var.endpoint }
backend "skypilot" "machines" {
  infra        = var.infra
  api          = var.api
  max_clusters = var.clusters
  go_judge     = var.go_judge
}
problem "algorithmic" {
  for_each = frontier_problems("${var.root}/algorithmic/problems")
  name     = each.key
  invalid  = "report" # a bad config.yaml fails only its problem
  frontier {
    path   = each.value
    compat = var.compat
  }
}
solution "model" {
  for_each = { for name, file in frontier_solutions("${var.root}/algorithmic/solutions") : name => file if can(problem.algorithmic[dirname(name)]) }
  problem  = problem.algorithmic[dirname(each.key)]
  frontier { path = each.value }
}
suite "default" {
  matrix {
    solution = values(solution.model)
    backend  = [for b in [backend.gojudge.box, backend.lightcp.server, backend.skypilot.machines] : b if b.kind == var.backend]
  }
}
