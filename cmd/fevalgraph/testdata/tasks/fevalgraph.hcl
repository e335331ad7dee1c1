# Tasks in every form, made on this machine and at local.there, a backend that the tests declare; what
# each makes is used on both.
backend "local" "here" {}

locals { where = toset(["here", "there"]) }

task "data" { # a tree with what trees may have
  for_each = local.where
  backend  = each.key == "here" ? backend.local.here : local.there
  setup    = ["echo 3 >count"]
  input "parts" {
    source = "parts"
    target = "work/parts"
  }
  directory = "work"
  network   = "none"
  run       = <<-END
    mkdir -p out/deep/er out/empty
    cat parts/*.txt >out/deep/er/all.txt
    seq $(cat count) >out/numbers.txt
    printf '#!/bin/sh\necho run\n' >out/tool
    chmod +x out/tool
    ln -s numbers.txt out/link
  END
  output "tree" { path = "out" }
}

task "packed" { # of another task's tree, a file that is no text, and a program of a package
  for_each = local.where
  backend  = each.key == "here" ? backend.local.here : local.there
  requires = ["pygments==2.19.2"]
  input "tree" { source = task.data[each.key].outputs.tree }
  run = <<-END
    pygmentize -V | cut -d' ' -f3 | tr -d , >version
    { cat version tree/link; tree/tool; find tree | sort; printf '\000\377'; } >packed.bin
  END
  output "packed" {
    path = "packed.bin"
    kind = "file"
  }
}

problem "same" {
  for_each = local.where
  name     = "made-${each.key}"
  command {
    root     = "grader"
    solution = "answer.sh"
    argv     = ["sh", "grade.sh"]
    score { from = "stdout" }
  }
  asset "tree" { source = task.data[each.key].outputs.tree }
  asset "packed" { source = task.packed[each.key].outputs.packed }
}

task "built" { # a solution
  for_each = local.where
  backend  = each.key == "here" ? backend.local.here : local.there
  run      = "echo 'cat packed | cksum' >built.sh"
  output "code" {
    path = "built.sh"
    kind = "file"
  }
}

solution "built" {
  for_each = local.where
  name     = "built"
  problem  = problem.same[each.key]
  source   = task.built[each.key].outputs.code
}

task "size" {
  for_each = local.where
  backend  = each.key == "here" ? backend.local.here : local.there
  input "code" { source = solution.built[each.key] }
  run = "printf '{\"bytes\": %d}' $(cat code/* | wc -c) >size.json"
  output "size" {
    path = "size.json"
    kind = "metrics"
  }
}

# Commands that make nothing of theirs.
variable "failing" { default = false }

task "failing" {
  for_each = toset(var.failing ? [for f in setproduct(["here", "there"], ["status", "signal", "late", "nothing", "words", "link"]) : join(" ", f)] : [])
  backend  = split(" ", each.key)[0] == "here" ? backend.local.here : local.there
  timeout  = split(" ", each.key)[1] == "late" ? "2s" : "10m"
  run = {
    status  = "echo it is bad >&2; exit 7"
    signal  = "kill -9 $$"
    late    = "sleep 1000"
    nothing = "true"
    words   = "echo '{\"a\": \"many\"}' >out.json"
    link    = "ln -s /etc/passwd out.json"
  }[split(" ", each.key)[1]]
  output "figures" {
    path = "out.json"
    kind = "metrics"
  }
}
