# A folder of pytest tests, and every directory in solutions as a solution. Each test_*.py is a checkpoint.

problem "greet" {
  entry = "python greet.py" # what tests get as the fixture entrypoint

  pytest { root = "tests" }
}

solution "greet" {
  for_each = dirs("solutions", "*")
  name     = each.value
  problem  = problem.greet
  source   = "solutions/${each.value}"
}
