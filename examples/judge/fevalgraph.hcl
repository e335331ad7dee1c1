# Two problems that are judged case by case: in one, a checker gives partial
# credit; in the other, solutions talk to an interactor. Without an endpoint, run
# starts go-judge from PATH.
#
#   fevalgraph run
#   fevalgraph eval 1 solutions/hasty/packing.cpp
#   fevalgraph validate --reference

variable "endpoint" {
  type        = string
  default     = null
  description = "Address of a running go-judge, such as http://127.0.0.1:5050."
}

backend "gojudge" "box" {
  endpoint = var.endpoint
}

problem "packing" {
  name  = "1"
  title = "Packing"
  tags  = ["default"]

  judge {
    root    = "problems/packing"
    checker = "checker.cc"
    time    = "1s"
    memory  = "256MiB"
    subtask { n_cases = 3 }
  }

  reference { source = "problems/packing/reference.cpp" }
}

problem "guess" {
  name  = "2"
  title = "Guess the number"
  tags  = ["interactive"]

  judge {
    root       = "problems/guess"
    mode       = "interactive"
    interactor = "interactor.cc"
    time       = "1s"
    memory     = "256MiB"

    subtask {
      case {
        input  = "small.in"
        output = "small.ans"
      }
      case {
        input  = "large.in"
        output = "large.ans"
        time   = "2s"
      }
    }
  }

  reference {
    source = "problems/guess/reference.cpp"
    score  = 100
  }
}

solution "packing" {
  for_each = { careful = "careful/packing.cpp", hasty = "hasty/packing.cpp", script = "script/packing.py" }
  name     = each.key
  problem  = problem.packing
  source   = "solutions/${each.value}"
  labels   = { model = each.key }
}

solution "guess" {
  for_each = { careful = "careful/guess.cpp", hasty = "hasty/guess.cpp", script = "script/guess.py" }
  name     = each.key
  problem  = problem.guess
  source   = "solutions/${each.value}"
  labels   = { model = each.key }
}

result "models" {
  from     = suite.default
  group_by = ["model"]

  metric "score" {
    value  = self.score
    format = "%.2f"
  }
  metric "unbounded" {
    value  = self.score_unbounded
    format = "%.2f"
  }
  metric "scored" {
    value = self.scored
  }

  sort = ["-score", "model"]
}
