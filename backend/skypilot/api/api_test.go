package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/backend/skypilot/api"
)

// recorded replays a response of SkyPilot 0.14.1 to one call, and records the request.
type recorded struct {
	status int    // response to the wait for the request
	value  string // its result, or its error if status is 500; JSON
	state  string // of the request; "" is SUCCEEDED, or FAILED with an error
	stream string // response to the call itself
	path   string
	body   map[string]any
	header http.Header
}

func (r *recorded) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path != "/api/get" {
		text, _ := io.ReadAll(req.Body)
		r.path, r.body, r.header = req.URL.Path, nil, req.Header
		if err := json.Unmarshal(text, &r.body); err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("X-SkyPilot-Request-ID", "r1")
		if r.stream != "" {
			io.WriteString(w, r.stream)
			return
		}
		io.WriteString(w, "null")
		return
	}
	if id := req.URL.Query().Get("request_id"); id != "r1" {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"detail":"Request '%s' not found"}`, id)
		return
	}
	payload := map[string]any{"request_id": "r1", "name": "sky.x", "request_body": "gASV", "user_id": "feva1e57", "return_value": "null", "error": "null", "status": r.state, "should_retry": false}
	if r.status == http.StatusInternalServerError {
		payload["status"], payload["error"] = "FAILED", r.value
		payload = map[string]any{"detail": payload}
		w.WriteHeader(r.status)
	} else if r.state == "" {
		payload["status"], payload["return_value"] = "SUCCEEDED", r.value
	}
	json.NewEncoder(w).Encode(payload)
}

func client(t *testing.T, h http.Handler) *api.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return api.New(server.URL+"/", api.User{ID: "feva1e57", Name: "tester"}, nil)
}

func TestCalls(t *testing.T) {
	user := map[string]any{"SKYPILOT_USER_ID": "feva1e57", "SKYPILOT_USER": "tester"}
	ctx := t.Context()
	for _, test := range []struct {
		name, path, value string
		call              func(*api.Client) (any, error)
		body              map[string]any
		want              any
	}{
		{"launched", "/launch", `{"job_id":1,"handle":"gASV"}`,
			func(c *api.Client) (any, error) {
				request, err := c.Launch(ctx, "c1", api.Task{Run: "echo"})
				if err != nil {
					return nil, err
				}
				return c.WaitLaunched(ctx, request)
			},
			map[string]any{"cluster_name": "c1", "task": `{"resources":{},"run":"echo"}`},
			api.Launched{Job: 1}},
		{"no job", "/launch", `{"job_id":null,"handle":"gASV"}`,
			func(c *api.Client) (any, error) {
				request, err := c.Launch(ctx, "c1", api.Task{})
				if err != nil {
					return nil, err
				}
				return c.WaitLaunched(ctx, request)
			},
			map[string]any{"cluster_name": "c1", "task": `{"resources":{}}`},
			api.Launched{}},
		{"status", "/status", `[{"name":"c1","launched_at":1795512478,"status":"UP","autostop":-1,"to_down":false,"metadata":{},"cluster_hash":"b98a582c","user_hash":"feva1e57","is_managed":false,"last_event":"All nodes up; SkyPilot runtime healthy.","resources_str":"1x(cpus=1, mem=1, ...)","resources_str_full":"1x(cpus=1, mem=1, disk=256)","nodes":1,"cloud":"Slurm","region":"tests","cpus":"1","memory":"1","labels":{},"cluster_name_on_cloud":"c1-feva1e57","node_names":"job2-n1","priority":0,"links":{},"handle":"gAROLg=="}]`,
			func(c *api.Client) (any, error) { return c.Refresh(ctx, []string{"c1"}) },
			map[string]any{"cluster_names": []any{"c1"}, "all_users": false, "include_credentials": false, "include_handle": false, "refresh": "FORCE"},
			[]api.Cluster{{Name: "c1", Status: "UP", LaunchedAt: 1795512478, Autostop: -1, Hash: "b98a582c", UserID: "feva1e57", Cloud: "Slurm", Region: "tests", Resources: "1x(cpus=1, mem=1, disk=256)", Nodes: 1, NameThere: "c1-feva1e57", LastEvent: "All nodes up; SkyPilot runtime healthy."}}},
		{"all clusters", "/status", `[]`,
			func(c *api.Client) (any, error) { return c.Refresh(ctx, nil) },
			map[string]any{"all_users": false, "include_credentials": false, "include_handle": false, "refresh": "FORCE"},
			[]api.Cluster{}},
		{"queue", "/queue", `[{"job_id":1,"job_name":"-","username":"tester","user_hash":"feva1e57","submitted_at":1795512481.5,"start_at":1795512488.25,"end_at":null,"resources":"1x[CPU:1]","status":"RUNNING","log_path":"~/sky_logs/sky-2026-11-24-09-27-48-423221","metadata":{},"links":{}}]`,
			func(c *api.Client) (any, error) { return c.Queue(ctx, "c1") },
			map[string]any{"cluster_name": "c1", "all_users": true},
			[]api.Job{{ID: 1, Name: "-", Status: api.JobRunning, Submitted: 1795512481.5, Started: 1795512488.25, Log: "~/sky_logs/sky-2026-11-24-09-27-48-423221"}}},
		{"cancel", "/api/cancel", `["r0"]`,
			func(c *api.Client) (any, error) { return nil, c.Cancel(ctx, "r0") },
			map[string]any{"request_ids": []any{"r0"}}, nil},
		{"down", "/down", `null`,
			func(c *api.Client) (any, error) { return nil, c.Down(ctx, "c1") },
			map[string]any{"cluster_name": "c1"}, nil},
		{"offers", "/list_accelerators", `{"H100":[["slurm",null,"H100",1,8,0.0,15.62,0.0,0.0,"main*"],["slurm",null,"H100",2,8,0.0,15.62,0.0,0.0,"main*"],["aws","p5.4xlarge","H100",1,16,80.0,256.0,4.5,null,"us-east-2"]],"H100-MIG":[["gcp",null,"H100-MIG",1,8,0.0,1.0,1.0,1.0,"x"]]}`,
			func(c *api.Client) (any, error) { return c.Offers(ctx, "h100", 1, "slurm", "aws") },
			map[string]any{"gpus_only": false, "name_filter": "h100", "quantity_filter": 1., "require_price": false, "case_sensitive": false, "clouds": []any{"slurm", "aws"}},
			[]api.Offer{{Cloud: "aws", InstanceType: "p5.4xlarge", Accelerator: "H100", Count: 1, CPUs: 16, Memory: 256, Price: 4.5, Region: "us-east-2"},
				{Cloud: "slurm", Accelerator: "H100", Count: 1, CPUs: 8, Memory: 15.62, Region: "main*"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &recorded{value: test.value}
			got, err := test.call(client(t, r))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			test.body["env_vars"] = user
			if r.path != test.path || !reflect.DeepEqual(r.body, test.body) {
				t.Errorf("requested %s %v, want %s %v", r.path, r.body, test.path, test.body)
			}
		})
	}
}

func TestHealth(t *testing.T) {
	answer := `{"status":"healthy","api_version":"62","version":"0.14.1","version_on_disk":"0.14.1","commit":"7e595970","basic_auth_enabled":false,"user":null}`
	c := client(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, answer) }))
	h, err := c.Health(t.Context())
	if want := (api.Health{Status: "healthy", APIVersion: "62", Version: "0.14.1", Commit: "7e595970"}); err != nil || h != want {
		t.Errorf("got %+v, %v", h, err)
	}
	answer = `{"status":"needs_auth"}`
	if _, err := c.Health(t.Context()); api.KindOf(err) != api.KindAuth {
		t.Errorf("got %v", err)
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		exception, message string
		kind               api.Kind
		gone               bool
	}{
		{"ClusterDoesNotExist", "\x1b[33mCluster 'nope' does not exist.\x1b[0m", api.KindOther, true},
		{"ResourcesUnavailableError", "\x1b[31mFailed to provision all possible launchable resources.\x1b[0m Relax the task's resource requirements: 1x Slurm(cpus=1, mem=1)", api.KindCapacity, false},
		{"ResourcesUnavailableError", "VcpuLimitExceeded: you have exceeded your quota", api.KindQuota, false},
		{"ResourcesUnavailableError", "Task requires aws which is not enabled. To enable access, change the task cloud requirement or run: \x1b[1msky check aws\x1b[0m", api.KindAuth, false},
		{"ResourcesUnavailableError", "Catalog does not contain any instances satisfying the request: 1x Slurm(cpus=100, region=tests).", api.KindInvalid, false},
		{"ClusterSetUpError", "x", api.KindSetup, false},
		{"InvalidSkyPilotConfigError", "Invalid task YAML: Found unsupported field 'bogus'.", api.KindInvalid, false},
		{"NotSupportedError", "Autostop is not supported on Slurm - see reason above.", api.KindInvalid, false},
		{"RequestInterruptedError", "x", api.KindEnded, false},
		{"ProxyError", "HTTPSConnectionPool(host='x', port=443): Max retries exceeded", api.KindOther, false},
	} {
		text, _ := json.Marshal(map[string]string{"object": "gASV", "type": test.exception, "message": test.message})
		err := client(t, &recorded{status: http.StatusInternalServerError, value: string(text)}).Down(t.Context(), "nope")
		var e *api.Error
		if !errors.As(err, &e) || e.Type != test.exception || e.Status != http.StatusInternalServerError || strings.Contains(e.Message, "\x1b") {
			t.Errorf("%s: got %#v", test.exception, err)
		}
		if kind := api.KindOf(err); kind != test.kind || api.NoSuchCluster(err) != test.gone || api.Unreachable(err) {
			t.Errorf("%s: %s: kind %d, want %d", test.exception, test.message, kind, test.kind)
		}
	}

	err := client(t, &recorded{state: "CANCELLED"}).Down(t.Context(), "c1")
	if api.KindOf(err) != api.KindEnded {
		t.Errorf("cancelled: got %v", err)
	}
	_, err = client(t, &recorded{}).Wait(t.Context(), "other")
	if e, ok := errors.AsType[*api.Error](err); !ok || e.Status != http.StatusNotFound || e.Message != "Request 'other' not found" || api.KindOf(err) != api.KindEnded {
		t.Errorf("unknown request: got %v", err)
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name, contentType, body string
		status                  int
		kind                    api.Kind
		retry, login            bool
	}{
		{"login", "text/html", "<html>", 302, api.KindAuth, false, true},
		{"login page", "text/html; charset=utf-8", "<html>", 200, api.KindAuth, false, true},
		{"unauthorized", "application/json", `"Authentication required"`, 401, api.KindAuth, false, true},
		{"forbidden", "application/json", `{"detail":"Forbidden"}`, 403, api.KindAuth, false, true},
		{"invalid", "application/json", `{"detail":[{"type":"missing","loc":["body","task"],"msg":"Field required"}]}`, 422, api.KindInvalid, false, false},
		{"starting", "application/json", `{"detail":"Server is shutting down"}`, 503, api.KindOther, true, false},
		{"proxy", "text/html", "<html>Bad Gateway", 502, api.KindOther, true, false},
	} {
		c := client(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", test.contentType)
			w.Header().Set("Location", "/oauth2/sign_in")
			w.WriteHeader(test.status)
			io.WriteString(w, test.body)
		}))
		err := c.Down(t.Context(), "c1")
		if err == nil || api.KindOf(err) != test.kind || api.Unreachable(err) != test.retry || strings.Contains(err.Error(), "sky api login") != test.login {
			t.Errorf("%s: got %v", test.name, err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c := api.New(server.URL, api.User{}, nil)
	if err := c.Down(t.Context(), "c1"); !api.Unreachable(err) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Down(ctx, "c1"); !errors.Is(err, context.Canceled) || api.Unreachable(err) {
		t.Errorf("cancelled: got %v", err)
	}
	// A request that dies in the middle.
	c = client(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	if _, err := c.Wait(t.Context(), "r1"); !api.Unreachable(err) {
		t.Errorf("aborted: got %v", err)
	}
}

func TestSaid(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]string{
		"": "",
		"\x1b[2m├── \x1b[0mJob started.\n\x1b[36m(setup pid=48951)\x1b[0m fetching things\n\x1b[36m(setup pid=48951)\x1b[0m\n\x1b[36m(setup pid=48951)\x1b[0m no such (pid=1) package\nsrun: error\n": "fetching things\n\nno such (pid=1) package",
		"(fevalgraph, pid=7) hello\r\n":                "hello",
		"\x1b[31mNo job.\x1b[0m\n(not one: pid=x) a\n": "No job.\n(not one: pid=x) a",
	} {
		if got := api.Said(log); got != want {
			t.Errorf("%q: got %q, want %q", log, got, want)
		}
	}
}

func TestLogs(t *testing.T) {
	r := &recorded{value: "100", stream: "hello\n"}
	var out bytes.Buffer
	if err := client(t, r).Logs(t.Context(), &out, "c1", 2, 5, true); err != nil || out.String() != "hello\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
	want := map[string]any{"cluster_name": "c1", "job_id": 2., "follow": true, "tail": 5., "env_vars": map[string]any{"SKYPILOT_USER_ID": "feva1e57", "SKYPILOT_USER": "tester"}}
	if !reflect.DeepEqual(r.body, want) {
		t.Errorf("requests %v", r.body)
	}
	r = &recorded{status: 500, value: `{"type":"ClusterDoesNotExist","message":"x"}`, stream: "\n"}
	if err := client(t, r).Logs(t.Context(), &out, "c1", 2, 0, false); !api.NoSuchCluster(err) {
		t.Errorf("got %v", err)
	}
}

func TestToken(t *testing.T) {
	r := &recorded{value: "null"}
	server := httptest.NewServer(r)
	defer server.Close()
	if err := api.New(server.URL, api.User{Token: "sky_x"}, server.Client()).Down(t.Context(), "c1"); err != nil {
		t.Fatal(err)
	}
	if got := r.header.Get("Authorization"); got != "Bearer sky_x" {
		t.Errorf("got %q", got)
	}
}

func TestTask(t *testing.T) {
	task := api.Task{
		Name:      "n",
		Resources: api.Resources{Infra: "slurm/tests", CPUs: "2+", Memory: "4", Accelerators: "H100:1", DiskSize: 50, UseSpot: true, Autostop: &api.Autostop{IdleMinutes: 10, Down: true}},
		NumNodes:  2,
		Run:       "echo \"ä\x7f <b>\"\n\u0085\ttrue\U0001f600",
		Sbatch:    map[string]string{"time": "1:00:00"},
	}
	text, err := task.YAML()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"name": "n", "num_nodes": 2, "run": task.Run,
		"resources": map[string]any{"infra": "slurm/tests", "cpus": "2+", "memory": "4", "accelerators": "H100:1", "disk_size": 50, "use_spot": true, "autostop": map[string]any{"idle_minutes": 10, "down": true}},
		"config":    map[string]any{"slurm": map[string]any{"sbatch_options": map[string]any{"time": "1:00:00"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v, of %s", got, want, text)
	}
}
