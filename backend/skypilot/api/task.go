package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Task describes a cluster and its commands. For empty fields, SkyPilot uses its
// defaults.
type Task struct {
	Name      string            `json:"name,omitempty"`
	Resources Resources         `json:"resources"`
	NumNodes  int               `json:"num_nodes,omitempty"` // 0 is 1
	Setup     string            `json:"setup,omitempty"`     // commands before run, for each launch
	Run       string            `json:"run,omitempty"`       // commands for bash, on each node
	Sbatch    map[string]string `json:"-"`                   // options of Slurm's sbatch, such as time
}

// Resources are the requirements of each node of a cluster.
type Resources struct {
	Infra        string    `json:"infra,omitempty"`        // cloud/region/zone, such as "slurm/tests" or "aws"
	CPUs         string    `json:"cpus,omitempty"`         // a number; "4+" means at least 4
	Memory       string    `json:"memory,omitempty"`       // GiB; "16+" means at least 16
	Accelerators string    `json:"accelerators,omitempty"` // NAME:COUNT, such as "H100:2"
	DiskSize     int       `json:"disk_size,omitempty"`    // GiB
	InstanceType string    `json:"instance_type,omitempty"`
	ImageID      string    `json:"image_id,omitempty"`
	UseSpot      bool      `json:"use_spot,omitempty"`
	Autostop     *Autostop `json:"autostop,omitempty"`
}

// Autostop ends a cluster on which no job has run for some time.
type Autostop struct {
	IdleMinutes int  `json:"idle_minutes"`
	Down        bool `json:"down"` // removes it; otherwise its machines stop, where a cloud can
}

// YAML returns the task in the format of SkyPilot. It is JSON, which is unambiguous
// YAML: 1:00:00 without quotes would be a number.
func (t Task) YAML() (string, error) {
	type plain Task
	type slurm struct {
		Options map[string]string `json:"sbatch_options"`
	}
	whole := struct {
		plain
		Config map[string]slurm `json:"config,omitempty"`
	}{plain: plain(t)}
	if len(t.Sbatch) > 0 {
		whole.Config = map[string]slurm{"slurm": {t.Sbatch}}
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return "", fmt.Errorf("encoding a task: %w", err)
	}
	// YAML does not allow these characters, JSON does.
	var out strings.Builder
	for _, r := range string(text) {
		if r == 0x7f || unicode.Is(unicode.Cc, r) || r == 0xfeff || r == 0xfffe || r == 0xffff {
			fmt.Fprintf(&out, "\\u%04x", r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String(), nil
}
