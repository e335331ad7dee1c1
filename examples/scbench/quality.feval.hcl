# Beside the verdicts: the share of checkpoints that are solved, and, with --var quality=true, figures about their code.
variable "quality" { default = false }

# As SlopCodeBench counts: all tests of these groups passed, and there are some.
function "solved" {
  params = [checkpoints, groups]
  result = length([for c in checkpoints : c if c.class == "judged" && sum([for g in groups : c[g].total]) > 0 && alltrue([for g in groups : c[g].passed == c[g].total])]) / max(length(checkpoints), 1)
}

result "rates" {
  from     = suite.default
  group_by = ["solution"]
  metric "strict" { value = solved(self.checkpoints, ["core", "functionality", "regression", "error"]) }
  metric "isolated" { value = solved(self.checkpoints, ["core", "functionality", "error"]) }
  metric "core" { value = solved(self.checkpoints, ["core"]) }
  metric "verbosity" { value = try(self.figures["quality.verbosity"], null) }
  metric "erosion" { value = try(self.figures["quality.erosion"], null) }
}

# scb-check, pinned by the lock file, runs outside of the code that it looks at, so that no configuration of that
# counts. It leaves ast-grep out without a word when that fails: without the mark of a run that ended well there are no figures.
task "quality" {
  for_each = merge({}, [for s in values(solution.scbench) : { for c in s.checkpoints : "${s.problem.name}/${c.name}" => { solution = s, checkpoint = c.name } } if var.quality]...)
  backend  = var.image == "" ? backend.local.uv : backend.docker.uv
  requires = ["scb-check==0.2.0"]
  input "code" {
    source     = each.value.solution
    checkpoint = each.value.checkpoint
  }
  run = <<-END
    set -e
    mkdir bin
    printf '#!/bin/sh\nast-grep "$@" && touch "%s/ran"\n' "$PWD" >bin/sg
    chmod +x bin/sg
    echo 'exclude = []' >scb-check.toml
    PATH=$PWD/bin:$PATH scb-check check code --report --include-all --config scb-check.toml >report.json || [ $? = 1 ]
    [ -e ran ] || { echo "Error: ast-grep did not run" >&2; exit 1; }
    python -c '
    import json, sys
    r = json.load(open("report.json"))
    loc = r["total_loc"] or sys.exit("Error: there is no code")
    figures = {name: r[name] for name in ("verbosity", "erosion", "cog_erosion", "total_loc")}
    json.dump(figures | {"ast_grep": r["ast_grep_flagged_loc"] / loc, "cloned": r["clone_loc"] / loc}, open("quality.json", "w"))
    '
  END
  output "figures" {
    path = "quality.json"
    kind = "metrics"
  }
}
