# Programs that end in many ways, which have to be judged by an engine's workers as here.
variable "endpoint" {}
variable "state" {}
variable "path" {}

locals {
  # What asking a package index takes, which tells whether a machine has a network.
  index = ["SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "https_proxy", "UV_DEFAULT_INDEX", "UV_INDEX_URL"]
}

backend "local" "here" {}

backend "remote" "a" {
  endpoint    = var.endpoint
  state       = var.state
  platform    = { OSFamily = "linux", pool = "a" }
  path        = var.path
  patience    = "5m"
  passthrough = local.index
}

backend "remote" "b" {
  endpoint    = var.endpoint
  state       = var.state
  platform    = { OSFamily = "linux", pool = "b" }
  path        = var.path
  patience    = "5m"
  passthrough = local.index
}

problem "ends" {
  command {
    root     = "grader"
    solution = "answer"
    setup    = ["sh prepare.sh"]
    argv     = ["sh", "grade.sh"]
    timeout  = "3s"
    score { from = "stdout" }
  }
}

solution "s" {
  for_each = toset(["right", "wrong", "crash", "hangs", "loud", "daemon", "locked", "named", "deep", "old", "fifo", "unready"])
  name     = each.key
  problem  = problem.ends
  source   = "answers/${each.key}"
}
