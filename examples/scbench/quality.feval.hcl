# Beside the verdicts: the share of checkpoints that are solved, and, with --var quality=true, figures about their code.
variable "quality" { default = false }
variable "quality_limit" { default = 120 } # seconds that scb-check gets; after five times that, what is not read counts as flagged

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

# scb-check, pinned by the lock file, looks at a copy of the code, so that no configuration and no suppression in that counts, no
# directory is passed over, and a link to code is code. It leaves out without a word what it or ast-grep cannot read: lines of
# such files, and of those on which it takes too long, count as flagged. So does a submission without code. Where both fail on a
# file that anything can read, there are no figures.
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
        "The kind of code of every file, by its own name or that of a link to it, and the files that are none."
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
        "The text of every file of code, by its path in the copy, and the number of lines in other texts."
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
        "The output of scb-check and how it ended; it may take a limited time."
        command = ["scb-check", "check", "copy", "--report", "--include-all", "--config", "scb-check.toml"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as started:
            try:
                return started.communicate(timeout=${var.quality_limit})[0], started.returncode
            except subprocess.TimeoutExpired:
                os.killpg(started.pid, signal.SIGKILL)
                return b"", None

    def look(texts):
        "The report on some files, or None if one of them was not read."
        shutil.rmtree("copy", ignore_errors=True)
        if os.path.exists("ran"):
            os.remove("ran")
        for name, text in texts.items():
            path = os.path.join("copy", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as f:
                f.write(text)
            if len(text) >= 1000000 or text.count("\n") >= 100000: # ast-grep leaves it out, or needs hours
                return None
        said, code = scan()
        try:
            report = json.loads(said)
        except ValueError:
            return None
        read = report["files_scanned"] == len(texts) and (os.path.exists("ran") or not any(name.lower().endswith((".py", ".pyw")) for name in texts))
        return report if code in (0, 1) and read else None

    def unread(texts):
        "The files that keep a report from being made."
        if not texts or look(texts):
            return {}
        if len(texts) == 1 or time.monotonic() > end:
            return texts
        names = list(texts)
        half = len(names) // 2
        return unread({n: texts[n] for n in names[:half]}) | unread({n: texts[n] for n in names[half:]})

    end = time.monotonic() + 5 * ${var.quality_limit}
    nothing = dict.fromkeys(["verbosity", "erosion", "cog_erosion", "total_loc", "ast_grep_flagged_loc", "clone_loc"], 0)
    texts, other = copies()
    report, lost = look(texts) if texts else nothing, {}
    if not report:
        if not look({"main.py": "print(1)\n"}):
            sys.exit("Error: ast-grep did not run" if not os.path.exists("ran") else "Error: scb-check did not run")
        lost = unread(texts)
        report = look({n: t for n, t in texts.items() if n not in lost}) if len(lost) < len(texts) else None
        if not report: # it reads each file, and not all of them
            lost, report = texts, nothing
        print("not read, so their lines count as flagged:", *lost, sep="\n  ")
    more = sum(bool(line.strip()) for text in lost.values() for line in text.splitlines())
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
