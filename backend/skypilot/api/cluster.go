package api

import (
	"context"
	"encoding/json"
	"fmt"
)

// Cluster is a cluster as the server last saw it.
type Cluster struct {
	Name       string `json:"name"`
	Status     string `json:"status"`      // INIT, UP, STOPPED, AUTOSTOPPING; a broken cluster is in "INIT", too
	LaunchedAt int64  `json:"launched_at"` // seconds since 1970
	Autostop   int    `json:"autostop"`    // minutes; -1 means never
	ToDown     bool   `json:"to_down"`     // whether Autostop removes it
	Hash       string `json:"cluster_hash"`
	UserID     string `json:"user_hash"`
	Cloud      string `json:"cloud"`
	Region     string `json:"region"`
	Resources  string `json:"resources_str_full"` // for users
	Nodes      int    `json:"nodes"`
	NameThere  string `json:"cluster_name_on_cloud"` // the name of Slurm's job
	LastEvent  string `json:"last_event"`            // for users
	InitKind   string `json:"init_kind"`             // of INIT: "launching" or "unhealthy"
	InitReason string `json:"init_status_reason"`    // of INIT, for users
}

// Launched is the result of a launch.
type Launched struct {
	Job int `json:"job_id"` // 0 if the task runs nothing
}

// Launch starts to make the cluster of that name unless it exists, and then to submit
// the task to it. It returns the request's id without waiting; WaitLaunched does. A name
// begins with a letter, ends with a letter or digit, and has dots, dashes and
// underscores between.
func (c *Client) Launch(ctx context.Context, cluster string, task Task) (string, error) {
	text, err := task.YAML()
	if err != nil {
		return "", err
	}
	return c.post(ctx, "/launch", map[string]any{"cluster_name": cluster, "task": text})
}

// WaitLaunched waits for a request of Launch. The job need not have begun, and its
// set-up need not have succeeded.
func (c *Client) WaitLaunched(ctx context.Context, request string) (Launched, error) {
	var l Launched
	value, err := c.Wait(ctx, request)
	if err != nil {
		return l, fmt.Errorf("/launch: %w", err)
	}
	if err := json.Unmarshal(value, &l); err != nil {
		return l, fmt.Errorf("/launch: reading the answer: %w", err)
	}
	return l, nil
}

// Refresh returns the named clusters that the server knows, as the clouds report them now, and omits others;
// nil names mean all clusters of the user.
func (c *Client) Refresh(ctx context.Context, names []string) ([]Cluster, error) {
	// The answer has private keys otherwise.
	body := map[string]any{"refresh": "FORCE", "all_users": false, "include_credentials": false, "include_handle": false}
	if names != nil {
		body["cluster_names"] = names
	}
	var clusters []Cluster
	err := c.call(ctx, "/status", body, &clusters)
	return clusters, err
}

// Down removes a cluster with all of its jobs, also in the state INIT. A cluster that does not exist is an
// error, NoSuchCluster.
func (c *Client) Down(ctx context.Context, cluster string) error {
	return c.call(ctx, "/down", map[string]any{"cluster_name": cluster}, nil)
}
