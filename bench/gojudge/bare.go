package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/gojudge"
)

// bare sends requests to a go-judge and nothing else.
type bare struct {
	cmd    *exec.Cmd
	id     string // of its control groups
	base   string
	client *http.Client
	file   string // id of the uploaded program
}

func newBare(ctx context.Context, p plan, dir string, program []byte) (*bare, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	l.Close()
	b := &bare{id: fmt.Sprintf("fevalgraph-bench-%d", os.Getpid()), base: "http://" + address,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: p.Parallelism}}}
	b.cmd = exec.Command(p.Binary, "-http-addr", address, "-cgroup-prefix", b.id, "-no-fallback", "-dir", filepath.Join(dir, "files"),
		"-parallelism", strconv.Itoa(p.Parallelism), "-release", "-silent")
	b.cmd.Dir = dir
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	if err := b.await(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	if err := b.upload(ctx, program); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *bare) await(ctx context.Context) error {
	for range 600 {
		if answer, err := b.client.Get(b.base + "/version"); err == nil {
			return answer.Body.Close()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return errors.New("go-judge does not answer")
}

func (b *bare) upload(ctx context.Context, program []byte) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "a")
	if err != nil {
		return err
	}
	part.Write(program)
	form.Close()
	return b.post(ctx, "/file", form.FormDataContentType(), &body, &b.file)
}

func (b *bare) post(ctx context.Context, path, kind string, body io.Reader, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", kind)
	answer, err := b.client.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
		return fmt.Errorf("%s: HTTP %d: %s", path, answer.StatusCode, text)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

func (b *bare) judge(ctx context.Context, i int) error {
	type object = map[string]any
	body, err := json.Marshal(object{"cmd": []object{{
		"args": []string{"a"}, "env": []string{"PATH=/usr/bin:/bin"},
		"files":    []object{{"content": input(i)}, {"name": "stdout", "max": outputLimit}, {"name": "stderr", "max": outputLimit}},
		"cpuLimit": timeLimit, "clockLimit": 2 * timeLimit, "memoryLimit": memoryLimit, "stackLimit": memoryLimit, "procLimit": processes,
		"copyIn": object{"a": object{"fileId": b.file}},
	}}})
	if err != nil {
		return err
	}
	var results []struct {
		Status, Error string
		Files         map[string]string
	}
	if err := b.post(ctx, "/run", "application/json", bytes.NewReader(body), &results); err != nil {
		return err
	}
	if len(results) != 1 || results[0].Status != "Accepted" || results[0].Files["stdout"] != answer(i) {
		return fmt.Errorf("case %d ended with %+v", i, results)
	}
	return nil
}

func (b *bare) close() error {
	b.cmd.Process.Signal(os.Interrupt)
	b.cmd.Wait()
	return gojudge.Reap(context.Background(), backend.Entry{ID: b.id, Kind: gojudge.Kind, Workspace: filepath.Join(b.cmd.Dir, b.id)})
}
