# Adds the share of solved checkpoints and, with --var quality=true, measurements of the code.
variable "quality" { default = false }
variable "quality_limit" { default = 120 } # time limit of scb-check in seconds; after five times that, lines of unread files count as flagged

# SlopCodeBench's definition: the groups have tests, and all passed.
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

# Runs scb-check, pinned by the lock file, on a copy of the code: without configuration and suppressions, with other names for
# directories that it would ignore, and with files instead of links. It silently skips files that it or ast-grep cannot read:
# their lines count as flagged, as do those of files on which it takes too long. A submission without code counts as flagged, too.
# If scb-check cannot read even a trivial file, the task fails.
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
    PATH=$PWD/bin:$PATH python -I -c '
    import json, os, shutil, signal, subprocess, sys, time

    KINDS = ".py .pyw .js .mjs .cjs .ts .c++ .cc .cpp .cxx .hh .hpp .hxx .hs .rs .zig".split()
    PASSED_OVER = ".git .venv venv env .env __pycache__ build dist node_modules site-packages .mypy_cache .pytest_cache .ruff_cache .tox".split()

    def is_script(path):
        with open(path, "rb") as f:
            first = f.readline(200)
        return first.startswith(b"#!") and b"python" in first

    def kinds():
        "Returns the root, the kind of every file of code, by its own name or that of a link to it, and the other files."
        top, found, others = os.path.realpath("code"), {}, set()
        for at, dirs, names in os.walk(top):
            dirs.sort()
            for name in sorted(names):
                path = os.path.join(at, name)
                real = os.path.realpath(path)
                if not real.startswith(top + os.sep) or not os.path.isfile(real):
                    continue
                kind = os.path.splitext(name)[1].lower()
                if kind not in KINDS and is_script(real):
                    kind = ".py"
                others.add(real)
                if kind in KINDS and (kind == ".py" or real not in found):
                    found[real] = kind
        return top, found, sorted(others - set(found))

    def copies():
        "Returns the texts of files of code by their path in the copy, and the number of lines in other texts."
        top, found, others = kinds()
        texts, lines = {}, 0
        for path in others:
            with open(path, "rb") as f:
                data = f.read()
            lines += 0 if b"\0" in data else sum(bool(line.strip()) for line in data.splitlines())
        for real, kind in found.items():
            parts = os.path.relpath(real, top).split(os.sep)
            parts[:-1] = [part + "_" if part in PASSED_OVER or part.lower().endswith(tuple(KINDS)) else part for part in parts[:-1]]
            name = os.path.join(*parts)
            if os.path.splitext(name)[1].lower() != kind:
                name += kind
            while name in texts:
                name = os.path.join(os.path.dirname(name), "_" + os.path.basename(name))
            with open(real, "rb") as f:
                text = f.read().decode("utf-8-sig", "replace")
            texts[name] = text.replace("ast-grep-ignore", "ast-grep_ignore")
        return texts, lines

    def scan():
        "Runs scb-check with a time limit, and returns its output and exit code."
        command = ["scb-check", "check", "copy", "--report", "--include-all", "--config", "scb-check.toml"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as started:
            try:
                return started.communicate(timeout=${var.quality_limit})[0], started.returncode
            except subprocess.TimeoutExpired:
                os.killpg(started.pid, signal.SIGKILL)
                return b"", None

    def report_on(texts):
        "Returns the report on some files, or None if one of them was not read."
        shutil.rmtree("copy", ignore_errors=True)
        if os.path.exists("ran"):
            os.remove("ran")
        for name, text in texts.items():
            path = os.path.join("copy", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as f:
                f.write(text)
            if len(text) >= 1000000 or text.count("\n") >= 100000: # ast-grep skips it, or takes hours
                return None
        output, code = scan()
        try:
            report = json.loads(output)
        except ValueError:
            return None
        read = report["files_scanned"] == len(texts) and (os.path.exists("ran") or not any(name.lower().endswith((".py", ".pyw")) for name in texts))
        return report if code in (0, 1) and read else None

    def unread(texts):
        "Returns the files that prevent a report."
        if not texts or report_on(texts):
            return {}
        if len(texts) == 1 or time.monotonic() > end:
            return texts
        names = list(texts)
        half = len(names) // 2
        return unread({n: texts[n] for n in names[:half]}) | unread({n: texts[n] for n in names[half:]})

    end = time.monotonic() + 5 * ${var.quality_limit}
    empty = dict.fromkeys(["verbosity", "erosion", "cog_erosion", "total_loc", "ast_grep_flagged_loc", "clone_loc"], 0)
    texts, other = copies()
    report, skipped = report_on(texts) if texts else empty, {}
    if not report:
        if not report_on({"main.py": "print(1)\n"}):
            sys.exit("Error: ast-grep did not run" if not os.path.exists("ran") else "Error: scb-check did not run")
        skipped = unread(texts)
        report = report_on({n: t for n, t in texts.items() if n not in skipped}) if len(skipped) < len(texts) else None
        if not report: # it reads each file alone, but not all together
            skipped, report = texts, empty
        print("could not read these files, so their lines count as flagged:", *skipped, sep="\n  ")
    more = sum(bool(line.strip()) for text in skipped.values() for line in text.splitlines())
    loc = report["total_loc"] + more
    share = more / loc if loc else 1
    figures = {name: report[name] * (1 - share) + share for name in ("verbosity", "erosion", "cog_erosion")}
    figures |= {"total_loc": loc, "unread_loc": more, "other_loc": other, "ast_grep": report["ast_grep_flagged_loc"] / max(loc, 1), "cloned": report["clone_loc"] / max(loc, 1)}
    with open("quality.json", "w") as f:
        json.dump(figures, f)
    '
  END
  output "figures" {
    path = "quality.json"
    kind = "metrics"
  }
}
