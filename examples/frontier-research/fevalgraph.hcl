# Frontier-CS, research track: fevalgraph run --var root=DIRECTORY [--var image=IMAGE] [problem=cloudcast,label.model=gpt5]
variable "root" { type = string }
variable "families" { default = ["cant_be_late", "cant_be_late_multi", "cloudcast", "grammar_fuzzing", "symbolic_regression"] } # without a GPU
variable "image" { default = null }                                                                                             # by default, graders run on this machine
variable "images" { default = "backend" }                                                                                       # own: the image in each problem's config.yaml
variable "backend" { default = "" }                                                                                             # skypilot: machines with each problem's resources
variable "infra" { default = "slurm" }
variable "api" { default = "local" }
backend "local" "host" { versions = ["bash --version", "tar --version"] }
backend "docker" "box" {
  image   = coalesce(var.image, "python:3.11-slim-trixie")
  network = "bridge" # as in Frontier-CS's containers, while graders run
  workdir = "/work"
}
backend "skypilot" "machines" {
  infra    = var.infra
  api      = var.api
  versions = ["bash --version", "tar --version"]
}
problem "research" {
  for_each = { for n, path in frontier_problems("${var.root}/research/problems") : n => path if contains(var.families, split("/", n)[0]) }
  invalid  = "report"
  frontier {
    path   = each.value
    type   = var.image == null ? "local" : "docker"
    images = var.images
  }
}
solution "answer" {
  for_each = { for n, file in frontier_solutions("${var.root}/research/solutions") : n => file if can(problem.research[dirname(n)]) }
  problem  = problem.research[dirname(each.key)]
  frontier { path = each.value }
}
suite "research" {
  matrix {
    solution = values(solution.answer)
    backend  = [var.backend == "skypilot" ? backend.skypilot.machines : var.image != null ? backend.docker.box : backend.local.host]
  }
}
