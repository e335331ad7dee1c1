# SlopCodeBench: judges every problem of a checkout, with its own solutions or those of a recorded run.
#   fevalgraph run --var root=DIRECTORY [--var run=RUN] [--var image=IMAGE] [problem=NAME]
variable "root" { type = string }
variable "run" { default = "" }
variable "python" { default = "3.12" } # as in the benchmark's own images
variable "image" { default = "" }
variable "out" { default = "build/scbench" }
backend "local" "uv" {
  python   = var.python
  versions = ["node --version", "g++ -dumpfullversion", "rustc --version", "redis-server --version", "rabbitmqctl version"] # programs that tests call
}
backend "docker" "uv" {
  image   = var.image == "" ? "unused" : var.image
  network = "bridge" # as in SlopCodeBench's containers, while tests run
  python  = var.python
}
problem "scbench" {
  for_each = { for c in fileset(var.root, "{*,problems/*}/config.yaml") : basename(dirname(c)) => "${var.root}/${dirname(c)}" }
  invalid  = "report" # a bad config.yaml fails only its problem
  slopcodebench {
    path = each.value
    run  = var.run
    type = var.image == "" ? "local" : "docker"
  }
}
solution "scbench" {
  for_each = problem.scbench
  problem  = each.value
  slopcodebench {}
}
suite "default" {
  matrix {
    solution = values(solution.scbench)
    backend  = [for b in [backend.local.uv, backend.docker.uv] : b if b.kind == (var.image == "" ? "local" : "docker")]
  }
}
export "scbench" "tree" {
  from = suite.default
  path = var.out
}
