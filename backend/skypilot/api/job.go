package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// JobState is the state of a job. A job's exit code is only in its log.
type JobState string

const (
	JobInit         JobState = "INIT"
	JobPending      JobState = "PENDING" // waits for others on the cluster
	JobSettingUp    JobState = "SETTING_UP"
	JobRunning      JobState = "RUNNING"
	JobSucceeded    JobState = "SUCCEEDED"
	JobFailed       JobState = "FAILED"
	JobFailedSetup  JobState = "FAILED_SETUP"
	JobFailedDriver JobState = "FAILED_DRIVER" // SkyPilot's process on the node ended
	JobCancelled    JobState = "CANCELLED"
)

// Ended reports whether the job's state is final.
func (s JobState) Ended() bool {
	switch s {
	case JobSucceeded, JobFailed, JobFailedSetup, JobFailedDriver, JobCancelled:
		return true
	}
	return false
}

// Job is an entry of a cluster's queue. Times are in seconds since 1970; 0 means not yet.
type Job struct {
	ID        int      `json:"job_id"`
	Name      string   `json:"job_name"`
	Status    JobState `json:"status"`
	Submitted float64  `json:"submitted_at"`
	Started   float64  `json:"start_at"`
	Ended     float64  `json:"end_at"`
	Log       string   `json:"log_path"` // a directory on the cluster
}

// Queue returns the jobs of a cluster, also those that have ended.
func (c *Client) Queue(ctx context.Context, cluster string) ([]Job, error) {
	var jobs []Job
	err := c.call(ctx, "/queue", map[string]any{"cluster_name": cluster, "all_users": true}, &jobs)
	return jobs, err
}

// Logs writes what a job has printed to w, with SkyPilot's own lines, prefixes and colors: all of it if tail
// is 0, else the last lines. If follow is set, it continues until the job has ended. A job that failed is a
// success.
func (c *Client) Logs(ctx context.Context, w io.Writer, cluster string, job, tail int, follow bool) error {
	body := map[string]any{"cluster_name": cluster, "job_id": job, "follow": follow, "tail": tail}
	resp, err := c.send(ctx, http.MethodPost, "/logs", body)
	if err != nil {
		return fmt.Errorf("/logs: %w", err)
	}
	defer resp.Body.Close()
	reading := &reader{resp.Body, nil}
	if _, err := io.Copy(w, reading); err != nil {
		if err == reading.err {
			err = unreachable(ctx, err)
		}
		return fmt.Errorf("/logs: %w", err)
	}
	// A missing cluster has an empty log.
	if _, err := c.Wait(ctx, resp.Header.Get("X-Skypilot-Request-Id")); err != nil {
		return fmt.Errorf("/logs: %w", err)
	}
	return nil
}

// ofJob matches the prefix of each line that a job prints: "(setup pid=7) ", "(name, pid=7) ".
var ofJob = lazyregexp.New(`^\([^()]*\bpid=[0-9]+\) ?`)

// Said returns the output of a job's own commands in a log, without SkyPilot's lines, prefixes and colors.
// If a log contains only lines of SkyPilot, it is returned unchanged.
func Said(log string) string {
	var own, all []string
	for line := range strings.Lines(colors().ReplaceAllString(log, "")) {
		line = strings.TrimRight(line, "\r\n")
		all = append(all, line)
		if prefix := ofJob().FindString(line); prefix != "" {
			own = append(own, line[len(prefix):])
		}
	}
	if own == nil {
		own = all
	}
	return strings.TrimSpace(strings.Join(own, "\n"))
}

// reader stores its error, which io.Copy does not distinguish from the writer's.
type reader struct {
	io.Reader
	err error
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.err = err
	return n, err
}
