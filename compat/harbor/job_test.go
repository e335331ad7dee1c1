package harbor

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/lang"
)

func trialException(kind, message string) object {
	return object{"exception_type": kind, "exception_message": message, "exception_traceback": "Traceback", "occurred_at": "2026-11-01T10:05:00Z"}
}

// A trial is a solution of the problem with its task's name, with the recorded results.
func TestTrialsAreSolutions(t *testing.T) {
	answer := map[string]string{}
	for name, more := range map[string]object{
		"word__b": {"started_at": "2026-11-01T09:00:00Z"},
		"word__a": {"agent_result": object{"n_input_tokens": nil, "cost_usd": nil}},
		"word__c": {"agent_info": object{"name": "oracle", "version": "1", "model_info": nil}, "source": nil, "agent_result": nil},
	} {
		answer[name+"/result.json"] = encodeTrial(name, "org/word", more)
		answer[name+"/artifacts/manifest.json"] = artifactManifest("/app/answer", "file")
		answer[name+"/artifacts/app/answer"] = "1"
	}
	cfg, found, job := load(t, commandProblems, answer)
	if len(found) > 0 {
		t.Fatal(found)
	}
	var got []string
	for _, s := range cfg.Solutions {
		line := s.Name + " " + s.Problem.Name
		for _, l := range s.Labels {
			line += " " + l.Name + "=" + l.Value
		}
		got = append(got, line)
		if c := s.Checkpoints[0]; c.Source != filepath.Join(job, s.Name, "artifacts", "app", "answer") || c.Missing || c.Unusable != "" {
			t.Errorf("%s: %+v", s.Name, c)
		}
		if r := s.Recorded; *r.Score != 1 || !r.Valid || r.By != "harbor" || s.Ignore != nil {
			t.Errorf("%s: %+v", s.Name, r)
		}
	}
	want := []string{
		"word__a word agent=coder attempt=2 cause= cost= dataset=set model=maker/m1 tokens=",
		"word__b word agent=coder attempt=1 cause= cost=0.125 dataset=set model=maker/m1 tokens=1200",
		"word__c word agent=oracle attempt=1 cause= cost= dataset=adhoc model= tokens=",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// Unusable trials are omitted with a warning, and are not configuration errors.
func TestTrialsLeftOut(t *testing.T) {
	files := map[string]string{
		"config.json": "{}", "result.json": "{}",
		"word__ok/result.json":             encodeTrial("word__ok", "org/word", nil),
		"word__ok/artifacts/manifest.json": artifactManifest("/app/a", "file"), "word__ok/artifacts/app/a": "1",
		"word__running/config.json":   "{}",
		"word__unended/result.json":   encodeTrial("word__unended", "org/word", object{"finished_at": nil}),
		"word__torn/result.json":      `{"task_name": "org/wo`,
		"word__deep/result.json":      strings.Repeat("[", 5000),
		"word__list/result.json":      `[]`,
		"word__nan/result.json":       `{"task_name": "org/word", "verifier_result": {"rewards": {"reward": NaN}}}`,
		"word__nameless/result.json":  `{"finished_at": "2026-11-01T10:05:00Z"}`,
		"strange__x/result.json":      encodeTrial("strange__x", "org/strange", nil),
		"word__many/result.json":      `{"metadata": [` + strings.Repeat(`"`+strings.Repeat("x", 60<<10)+`",`, 200) + `1]}`,
		" word__space/result.json":    encodeTrial("s", "org/word", nil),
		"word__\x1b[31m/result.json":  encodeTrial("s", "org/word", nil),
		"word__dir/result.json/":      "",
		"notes/readme.txt":            "",
		".sources/x/y/result.json":    "{}",
		"word__unended/artifacts/any": "",
	}
	links := t.TempDir()
	lay(t, links, map[string]string{"result.json": encodeTrial("x", "org/word", nil)})
	files["word__linked/"], files["word__loop/config.json"], files["word__gone/config.json"] = "", "{}", "{}"
	cfg, found, _ := load(t, commandProblems, files, map[string]string{
		"word__linked/result.json": filepath.Join(links, "result.json"), "word__elsewhere": links,
		"word__loop/result.json": "result.json", "word__gone/result.json": "nowhere",
	})
	if found.HasErrors() {
		t.Fatal(found)
	}
	if len(cfg.Solutions) != 1 || cfg.Solutions[0].Name != "word__ok" {
		t.Errorf("%d solutions", len(cfg.Solutions))
	}
	all := texts(found)
	for _, want := range []string{
		"word__torn is left out: its result.json: unexpected end of the file",
		"word__deep is left out: its result.json: unexpected end of the file",
		"word__list is left out: its result.json: want an object, not array", "word__nan is left out: its result.json: ",
		"word__linked is left out: its result.json: ", `is outside of the project.`,
		"word__loop is left out: its result.json: ", "in a loop of symbolic links", "word__gone",
		"word__nameless is left out: its result.json names no task",
		"word__many is left out: its result.json: a value is larger than 8 MiB",
		`" word__space" cannot be the name`, `"word__\x1b[31m" cannot be the name`,
		"Of j, 3 trials are left out as unfinished: word__gone, word__running, word__unended.",
		"No problem here is the task of 1 trial of j: org/strange.",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

// A hostile trial leads to no file outside of it, and has no label that is not a number.
func TestHostileTrials(t *testing.T) {
	files, links := map[string]string{}, map[string]string{}
	add := func(name, manifest string, more object) {
		files[name+"/result.json"] = encodeTrial(name, "org/word", more)
		files[name+"/artifacts/manifest.json"] = manifest
	}
	entry := func(source, destination, kind string) string {
		return fmt.Sprintf(`[{"source":%q,"destination":%q,"type":%q,"status":"ok","exclude":[]}]`, source, destination, kind)
	}
	add("word__up", entry("/app/answer", "../../../../../../etc/hostname", "file"), nil)
	add("word__through", entry("/app/answer", "artifacts/../../../../secret", "file"), nil)
	add("word__rooted", entry("/app/answer", "/etc/hostname", "file"), nil)
	add("word__link", artifactManifest("/app/answer", "file"), nil)
	files["word__link/artifacts/app/"], links["word__link/artifacts/app/answer"] = "", "/etc/hostname"
	add("word__above", artifactManifest("/app/answer", "file"), nil)
	links["word__above/artifacts/app"] = "/etc"
	add("word__steps", artifactManifest("/app/answer", "file"), object{"step_results": []object{{"step_name": "../../../../etc"}}})
	add("word__costs", artifactManifest("/app/answer", "file"), object{"agent_result": object{"n_input_tokens": 1.7e308, "n_output_tokens": 1.7e308, "cost_usd": 1}})
	files["word__costs/artifacts/app/answer"] = "1"
	cfg, found, job := load(t, commandProblems, files, links)
	if found.HasErrors() || len(cfg.Solutions) != 7 {
		t.Fatalf("%d solutions, %v", len(cfg.Solutions), found)
	}
	for _, s := range cfg.Solutions {
		c := s.Checkpoints[0]
		if s.Name == "word__costs" {
			for _, l := range s.Labels {
				if l.Name == "tokens" && l.Value != "" {
					t.Errorf("it used %q tokens", l.Value)
				}
			}
			continue
		}
		if c.Unusable == "" || c.Source != "" && !strings.HasPrefix(c.Source, job) {
			t.Errorf("%s: %+v", s.Name, c)
		}
	}
}

// A recorded reward that is not a finite number counts as missing, and never as 0.
func TestRecordedRewards(t *testing.T) {
	for text, want := range map[string]string{
		`{"rewards": {"reward": 0.5}}`: "0.5 true", `{"rewards": {"reward": 1, "other": null}}`: "1 true", `{"rewards": {"other": 1}}`: "- true",
		`{"rewards": {"reward": null}}`: "- false", `{"rewards": {}}`: "- false", `{"rewards": null}`: "- false", `null`: "- false",
		`{"rewards": {"reward": true}}`: `verifier_result.rewards": want a number, not bool`, `{"rewards": {"reward": "1"}}`: "want a number, not string", `{"rewards": 1}`: "want an object, not number",
		`{"rewards": {"reward": 1e999}}`: "want a number, not number 1e999", `{"rewards": {"reward": NaN}}`: "want a number, not string", `{"rewards": {"reward": -Infinity}}`: "want a number, not string", `7`: "want an object, not number",
	} {
		result := strings.Replace(encodeTrial("word__x", "org/word", nil), `{"rewards":{"reward":1}}`, text, 1)
		cfg, found, _ := load(t, commandProblems, map[string]string{"word__x/result.json": result, "word__x/artifacts/manifest.json": artifactManifest("/app/a", "file"), "word__x/artifacts/app/a": "1"})
		got := texts(found)
		if len(cfg.Solutions) == 1 {
			got = fmt.Sprintf("%s %t", orDash(cfg.Solutions[0].Recorded.Score), cfg.Solutions[0].Recorded.Valid)
		}
		if !strings.Contains(result, text) || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestJobsThatAreNone(t *testing.T) {
	for config, want := range map[string]string{
		`solution "s" { harbor_job = "jobs/none" }`:                                                      "not found",
		`solution "s" { harbor_job = "grade" }`:                                                          "No directory in",
		`solution "s" { harbor_job = "/proc" }`:                                                          "outside of the project",
		"solution \"s\" {\n  harbor_job = \"jobs/j\"\n  source = \"x\"\n}":                               "The recorded result defines it",
		"solution \"s\" {\n  harbor_job = \"jobs/j\"\n  problem = problem.any[\"word\"]\n}":              "The recorded result defines it",
		`solution "s" { harbor_job = 3 > 2 ? "jobs/none" : "jobs/j" }`:                                   "not found",
		"locals {\n  s = solution.s\n}\nsolution \"s\" { harbor_job = local.s }":                         "Cycle",
		"solution \"s\" {\n  for_each = {}\n  harbor_job = each.value\n}\n# no job, no solution":         "",
		"solution \"s\" {\n  for_each = { a = \"jobs/none\" }\n  harbor_job = each.value\n}\n# of a key": "not found",
	} {
		problems, _, _ := strings.Cut(commandProblems, "\nsolution")
		_, found, _ := load(t, problems+"\n"+config, nil)
		if got := texts(found); want == "" && found.HasErrors() || !strings.Contains(got, want) {
			t.Errorf("%s: %s", config, got)
		}
	}
}

// Every exception that Harbor defines is the label of its trial. Harbor decides whether the reward next to it counts.
func TestFailures(t *testing.T) {
	groups := map[string][2]string{ // names, and whether a reward next to them is valid
		"sandbox_failed":         {"EnvironmentStartTimeoutError SandboxBuildFailedError AgentSetupTimeoutError HealthcheckError SandboxLikelyOutOfMemoryError MemoryLimitExceededError SSHAccessError GKEExecStreamClosedError GKEPodNotFoundError RuntimeRequestError AddTestsDirError DownloadVerifierDirError", "false"},
		"model_provider_failed":  {"ApiError ApiRateLimitError ApiInternalServerError ApiOverloadedError ApiConnectionClosedError ApiResponseStalledError ApiConnectionError ApiUsageLimitError UnknownApiError NetworkConnectionError RateLimitError InternalServerError ServiceUnavailableError APIConnectionError APIError Timeout BadRequestError UnprocessableEntityError UnsupportedParamsError APIResponseValidationError BudgetExceededError AgentAuthenticationError ModelNotFoundError ApiProviderResourceNotFoundError AuthenticationError PermissionDeniedError NotFoundError", "false"},
		"harbor_failed":          {"ServiceOperationsUnsupportedError VercelScopeError DspyImportError MissingExtraError RegradeError", "false"},
		"agent_exhausted_budget": {"AgentTimeoutError ContextWindowExceededError OutputTokenExceededError ContextLengthExceededError OutputLengthExceededError", "true"},
		"agent_refused_task":     {"AgentSafetyRefusalError ContentPolicyViolationError", "true"},
		"verifier_failed":        {"VerifierTimeoutError RewardFileNotFoundError RewardFileEmptyError VerifierOutputParseError", "false"},
		"cancelled":              {"CancelledError", "false"},
		"agent_failed":           {"NonZeroAgentExitCodeError", "true"},
		"unclassified":           {"RuntimeError ValidationError ThoughtOfLaterError", "true"},
	}
	files, want := map[string]string{}, map[string]string{}
	for group, of := range groups {
		for _, kind := range strings.Fields(of[0]) {
			with, without := "word__"+kind, "word__none_"+kind
			want[with], want[without] = kind+" "+of[1]+" 1 ", kind+" false - "+group
			files[with+"/result.json"] = encodeTrial(with, "org/word", object{"exception_info": trialException(kind, "<b>it</b>\n\x1b[31mfailed")})
			files[with+"/artifacts/manifest.json"] = artifactManifest("/app/a", "file")
			files[with+"/artifacts/app/a"] = "1"
			files[without+"/result.json"] = encodeTrial(without, "org/word", object{"exception_info": trialException(kind, "<b>it</b>\nfailed"), "verifier_result": nil})
		}
	}
	cfg, found, _ := load(t, commandProblems, files)
	if len(found) > 0 || len(cfg.Solutions) != len(want) || len(want) < 110 {
		t.Fatal(len(cfg.Solutions), len(want), found)
	}
	for _, s := range cfg.Solutions {
		r, c := s.Recorded, s.Checkpoints[0]
		got := fmt.Sprintf("%s %t %s ", r.Cause, r.Valid, orDash(r.Score))
		if i := slices.IndexFunc(s.Labels, func(l lang.Label) bool { return l.Name == "cause" }); s.Labels[i].Value != r.Cause {
			t.Errorf("%s: cause is %q", s.Name, s.Labels[i].Value)
		}
		if r.Score == nil { // nothing was collected
			group := "unclassified"
			if f, known := failures[r.Cause]; known {
				group = f.group
			}
			got += group
			if text := "it has no artifacts/manifest.json; Harbor recorded " + r.Cause + " (" + group + "): <b>it</b>"; !strings.HasSuffix(c.Unusable, text) {
				t.Errorf("%s: %q", s.Name, c.Unusable)
			}
		} else if c.Unusable != "" {
			t.Errorf("%s: %q", s.Name, c.Unusable)
		}
		if got != want[s.Name] {
			t.Errorf("%s: %q, not %q", s.Name, got, want[s.Name])
		}
	}
}

// The reward fields of a trial have precedence over the known exceptions.
func TestPolicy(t *testing.T) {
	with := func(kind string, more object) object {
		e := trialException(kind, "x")
		maps.Copy(e, more)
		return object{"exception_info": e}
	}
	valid, invalid := object{"has_valid_reward": true}, object{"has_valid_reward": false}
	recorded := func(is bool, of object) object {
		of["reward_valid"] = is
		return of
	}
	want, files := map[string]bool{}, map[string]string{}
	for name, c := range map[string]struct {
		more object
		want bool
	}{
		"none":               {object{}, true},
		"known":              {with("ApiError", nil), false},
		"override":           {with("ApiError", object{"policy_override": valid}), true},
		"override_of_others": {with("ApiError", object{"policy_override": object{"should_retry": false}}), false},
		"override_first":     {with("Odd", object{"policy_override": invalid, "policy": valid}), false},
		"policy":             {with("Odd", object{"policy": invalid}), false},
		"recorded_valid":     {recorded(true, with("ApiError", nil)), true},
		"recorded_invalid":   {recorded(false, with("Odd", nil)), false},
		"schema":             {object{"schema_version": 1}, true},
	} {
		want["word__"+name] = c.want
		files["word__"+name+"/result.json"] = encodeTrial("word__"+name, "org/word", c.more)
	}
	files["word__newer/result.json"] = encodeTrial("word__newer", "org/word", object{"schema_version": 2})
	cfg, found, _ := load(t, commandProblems, files)
	if len(cfg.Solutions) != len(want) || len(found) != 1 || !strings.Contains(fmt.Sprint(found[0]), "schema_version 2") {
		t.Fatal(len(cfg.Solutions), found)
	}
	for _, s := range cfg.Solutions {
		if s.Recorded.Valid != want[s.Name] {
			t.Errorf("%s: %t", s.Name, s.Recorded.Valid)
		}
	}
}

// A machine that failed before the agent began has nothing of it to grade.
func TestAgentNeverRan(t *testing.T) {
	files := map[string]string{}
	for name, more := range map[string]object{
		"word__ill":  {"exception_info": trialException("HealthcheckError", "it is ill"), "verifier_result": nil, "agent_execution": nil},
		"word__late": {"exception_info": trialException("SandboxLikelyOutOfMemoryError", "x"), "verifier_result": nil, "agent_execution": object{"started_at": "2026-11-01T10:01:00Z"}},
	} {
		files[name+"/result.json"] = encodeTrial(name, "org/word", more)
		files[name+"/artifacts/manifest.json"] = artifactManifest("/app/a", "file")
		files[name+"/artifacts/app/a"] = "1"
	}
	cfg, found, _ := load(t, commandProblems, files)
	if len(found) > 0 || len(cfg.Solutions) != 2 {
		t.Fatal(len(cfg.Solutions), found)
	}
	for _, s := range cfg.Solutions {
		want := ""
		if s.Name == "word__ill" {
			want = "the trial word__ill cannot be graded again: its agent never ran; Harbor recorded HealthcheckError (sandbox_failed): it is ill"
		}
		if got := s.Checkpoints[0].Unusable; got != want {
			t.Errorf("%s: %q", s.Name, got)
		}
	}
}

func orDash(f *float64) string {
	if f == nil {
		return "-"
	}
	return number(f)
}

// Huge fields of a result are never in memory, and long ones are cut.
func TestHugeResults(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "result.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, `{"task_name": "a/b", "agent_result": {"n_input_tokens": 7, "rollout_details": [{"tokens": [1`)
	row := strings.Repeat(",12345", 10000)
	for range 1000 {
		fmt.Fprint(f, row)
	}
	fmt.Fprintf(f, `], "text": "%s\u00e9\""}]}, "exception_info": {"exception_type": "T", "exception_message": "%s"}}`, strings.Repeat("x", 1<<20), strings.Repeat(`\u00e9`, 1<<20))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var got trial
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := decodeRecord(in, &got); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("%d bytes were allocated for a file of %d", grown, size(t, path))
	}
	if n := len(got.Exception.Message); got.TaskName != "a/b" || *got.used().Input != 7 || n < 20000 || n > recordOptions.Text {
		t.Errorf("%d bytes of a message, %+v", n, got.TaskName)
	}
}

func size(t *testing.T, path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// A trial of a problem's task has the artifacts that the task declares, at their paths, and the task's score equals the
// recorded one.
func TestTrialsOfTasks(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{
		"fevalgraph.hcl": "problem \"t\" {\n  harbor {\n    task = \"task\"\n    mode = \"artifacts\"\n  }\n  verifier { reward = \"all\" }\n}\nsolution \"recorded\" { harbor_job = \"jobs/j\" }\n",
		"task/task.toml": `artifacts = ["/app/log.txt"]
multi_step_reward_strategy = "final"
[task]
name = "org/kept"
[environment]
docker_image = "none"
[[steps]]
name = "one"
artifacts = [{ source = "/app/src", destination = "src", exclude = ["*.pyc"] }]
[[steps]]
name = "two"
`,
		"task/tests/test.sh": "",
	})
	job := map[string]string{
		"a/result.json": encodeTrial("a", "org/kept", object{"verifier_result": nil, "step_results": []object{
			{"step_name": "one", "verifier_result": object{"rewards": object{"reward": 1, "all": 0.25}}},
			{"step_name": "two", "exception_info": trialException("VerifierTimeoutError", "")},
		}}),
		"b/result.json":                      encodeTrial("b", "other/kept", nil), // of another task
		"a/steps/one/artifacts/app/log.txt":  "l",
		"a/steps/one/artifacts/src/x":        "x",
		"a/steps/two/artifacts/app/log.txt":  "l",
		"a/steps/one/artifacts/logs/":        "",
		"a/steps/one/artifacts/logs/always/": "",
	}
	entry := func(source, destination, kind, exclude string) string {
		return fmt.Sprintf(`{"source":%q,"destination":%q,"type":%q,"status":"ok","exclude":[%s]}`, source, destination, kind, exclude)
	}
	always := `{"source":"/logs/artifacts","destination":"artifacts/logs/artifacts","type":"directory","status":"empty"}`
	log := entry("/app/log.txt", "artifacts/app/log.txt", "file", "")
	job["a/steps/one/artifacts/manifest.json"] = "[" + always + "," + log + "," + entry("/app/src", "artifacts/src", "directory", `"*.pyc"`) + "]"
	job["a/steps/two/artifacts/manifest.json"] = "[" + log + "]"
	lay(t, filepath.Join(dir, "jobs", "j"), job)
	cfg, found := lang.Load(lang.Options{Inputs: lang.Inputs{Dir: dir}, Extensions: lang.Extensions{Readers: append(taskReaders(), jobReader())}})
	if found.HasErrors() || !strings.Contains(texts(found), "1 trial of j: other/kept.") || len(cfg.Solutions) != 1 {
		t.Fatal(texts(found))
	}
	s := cfg.Solutions[0]
	if r := s.Recorded; !r.Comparable || !r.Last || r.Score != nil || *r.Checkpoints[0].Score != 0.25 || r.Checkpoints[1].Cause != "VerifierTimeoutError" || r.Cause != "VerifierTimeoutError" {
		t.Errorf("%+v", s.Recorded)
	}
	at := filepath.Join(dir, "jobs", "j", "a", "steps", "one", "artifacts")
	want := []lang.Part{{Target: "logs/artifacts"}, {Source: filepath.Join(at, "app", "log.txt"), Target: "app/log.txt"}, {Source: filepath.Join(at, "src"), Target: "app/src"}}
	if got := s.Checkpoints[0].Parts; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got := s.Checkpoints[1].Unusable; !strings.Contains(got, "step two, cannot be graded again: /logs/artifacts: it was never collected") {
		t.Errorf("%q", got)
	}
}

// A shared verifier of a task that declares no artifacts would judge an empty container.
func TestNothingToJudge(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "its task declares no artifacts, and the agent's container, which the verifier judged, was not kept",
		"artifacts = [\"/logs/artifacts\"]\n": "",
		"[verifier]\nenvironment_mode = \"separate\"\n":     "",
		"artifacts = [\"/app\"]\n":                          "/app: it was never collected",
		"artifacts = [\"/app\", \"/logs/artifacts\"]\n\n\n": "/app: it was never collected",
	} {
		dir := t.TempDir()
		lay(t, dir, map[string]string{
			"fevalgraph.hcl": "problem \"t\" {\n  harbor {\n    task = \"task\"\n    mode = \"artifacts\"\n  }\n  verifier { solution = \"/app\" }\n}\nsolution \"recorded\" { harbor_job = \"jobs/j\" }\n",
			"task/task.toml": text + "[task]\nname = \"org/t\"\n[environment]\ndocker_image = \"none\"\n", "task/tests/test.sh": "",
			"jobs/j/a/result.json": encodeTrial("a", "org/t", nil), "jobs/j/a/artifacts/manifest.json": artifactManifest(), "jobs/j/a/artifacts/logs/artifacts/x": "",
		})
		cfg, found := lang.Load(lang.Options{Inputs: lang.Inputs{Dir: dir}, Extensions: lang.Extensions{Readers: append(taskReaders(), jobReader())}})
		if found.HasErrors() || len(cfg.Solutions) != 1 {
			t.Fatal(texts(found))
		}
		if c := cfg.Solutions[0].Checkpoints[0]; (c.Unusable == "") != (want == "") || !strings.Contains(c.Unusable, want) {
			t.Errorf("%q: %q", text, c.Unusable)
		}
	}
}

// Trials of a task that two problems are go to neither.
func TestAmbiguousTask(t *testing.T) {
	dir := t.TempDir()
	problem := func(name string) string {
		return fmt.Sprintf("problem %q {\n  harbor { task = %q }\n  name = %q\n}\n", name, name, name)
	}
	toml := "artifacts = [\"/app\"]\n[task]\nname = \"org/t\"\n[verifier]\nenvironment_mode = \"separate\"\n[environment]\ndocker_image = \"none\"\n"
	lay(t, dir, map[string]string{
		"fevalgraph.hcl": problem("old") + problem("new") + "solution \"recorded\" { harbor_job = \"jobs/j\" }\n",
		"old/task.toml":  toml, "old/tests/test.sh": "", "new/task.toml": toml, "new/tests/test.sh": "",
		"jobs/j/a/result.json": encodeTrial("a", "org/t", nil), "jobs/j/b/result.json": encodeTrial("b", "org/t", nil),
	})
	_, found := lang.Load(lang.Options{Inputs: lang.Inputs{Dir: dir}, Extensions: lang.Extensions{Readers: append(taskReaders(), jobReader())}})
	if got := texts(found); !found.HasErrors() || strings.Count(got, "The problems old and new are all the task org/t") != 1 {
		t.Error(got)
	}
}
