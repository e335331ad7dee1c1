# A problem of two checkpoints and two solutions, one of which is not asked for
# the second checkpoint. Most scripts start from it.

problem "kv" {
  title   = "Key-value store"
  tags    = ["cli"]
  entry   = "python kv.py"
  timeout = "20s"

  pytest {
    root = "tests"
  }

  marker "slow" {
    group       = "functionality"
    description = "takes long"
  }

  asset "words" {
    source = "assets/words"
  }

  checkpoint "one" {}
  checkpoint "two" {}

  pass { policy = "core-cases" }
}

solution "good" {
  problem = problem.kv
  source  = "solutions/good/${checkpoint.name}"
}

solution "late" {
  problem = problem.kv
  source  = "solutions/late/${checkpoint.name}"
  missing = "omit"
}
