# A directory of pytest tests, and a solution for each directory in solutions. Each test_*.py is a checkpoint.

problem "greet" {
  entry = "python greet.py" # tests get it as the fixture entrypoint

  pytest { root = "tests" }
}

solution "greet" {
  for_each = dirs("solutions", "*")
  name     = each.value
  problem  = problem.greet
  source   = "solutions/${each.value}"
}
