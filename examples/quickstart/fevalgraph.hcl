# A problem with three checkpoints, and two solutions.
#
#   fevalgraph run       executes stale nodes
#   fevalgraph plan      lists stale nodes, and why they are stale

problem "tally" {
  title   = "Word tally"
  version = 1
  tags    = ["cli", "text"]
  entry   = "python tally.py"
  timeout = "20s" # for each test

  pytest {
    root = "problems/tally/tests"
  }

  marker "report" {
    group       = "functionality"
    description = "how the result is laid out"
  }

  asset "texts" {
    source = "problems/tally/texts"
  }

  checkpoint "checkpoint_1" { spec = "problems/tally/checkpoint_1.md" }
  checkpoint "checkpoint_2" { spec = "problems/tally/checkpoint_2.md" }
  checkpoint "checkpoint_3" { spec = "problems/tally/checkpoint_3.md" }

  pass { policy = "core-cases" }
}

solution "reference" {
  problem = problem.tally
  source  = "solutions/reference/${checkpoint.name}"
}

solution "hasty" {
  problem = problem.tally
  source  = "solutions/hasty/${checkpoint.name}"
}
