package pytest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Other processes of the tests' user, such as those of the submission, can write to the workspace and to
// the log while pytest runs. So reports count only with a seal: pytest's own process, which these
// processes can neither trace nor read, keeps them in unnamed files until it ends, and signs them with a
// key that it removed from the workspace before the tests began.

// plugin is the part of the seal that runs in pytest.
//
//go:embed fevalgraph_seal.py
var plugin []byte

// Locations of the seal in the workspace.
const (
	pluginName = "fevalgraph_seal"
	pluginDir  = reportsDir + "/plugin"
	keyPath    = reportsDir + "/key"
	sealPath   = reportsDir + "/seal"
)

// limitsPlugin extends the limits of tests by the time that other programs took.
//
//go:embed fevalgraph_limits.py
var limitsPlugin []byte

const limitsPluginName = "fevalgraph_limits"

// newKey returns the key of one run of pytest.
func newKey() proof.Key { return proof.Key(rand.Text()) }

// sealInputs lists the files of a run that seals its reports; they are placed after the empty directory of reports.
func sealInputs(key proof.Key) []backend.Input {
	return []backend.Input{
		pluginInput(pluginName, plugin),
		pluginInput(limitsPluginName, limitsPlugin),
		{Path: keyPath, Content: key, Replace: true},
	}
}

// pluginInput returns the file of a plugin.
func pluginInput(name string, content []byte) backend.Input {
	return backend.Input{Path: pluginDir + "/" + name + ".py", Content: content, Replace: true}
}

// sealed makes a program load the plugin from the working directory. The plugin removes the directory from
// the environment again.
const sealed = `PYTHONPATH=$PWD/` + pluginDir + `${PYTHONPATH:+:$PYTHONPATH}; export PYTHONPATH; `

// keyTaken reports whether pytest has taken its key, and thus might have run tests. Other processes cannot
// restore it.
func keyTaken(ctx context.Context, s backend.Session, key proof.Key) (bool, error) {
	content, err := session.Read(ctx, s, keyPath, int64(len(key)))
	switch {
	case isAbsent(err), errors.Is(err, session.ErrLarge):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("looking up %s: %w", keyPath, err)
	}
	return !bytes.Equal(content, key), nil
}

// sealedReport is an entry of the seal about a report.
type sealedReport struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// errUnsealed means that pytest's process did not write a report.
var errUnsealed = errors.New("the report is not sealed")

// readSeal returns the reports that pytest's process wrote, by their names, or nil without a valid seal.
func readSeal(ctx context.Context, s backend.Session, key proof.Key) (map[string]sealedReport, error) {
	const most = 4 << 10
	content, err := session.Read(ctx, s, sealPath, most)
	switch {
	case isAbsent(err), errors.Is(err, session.ErrLarge):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("fetching %s: %w", sealPath, err)
	}
	signature, text, _ := bytes.Cut(content, []byte(" "))
	if signed, err := hex.DecodeString(string(signature)); err != nil || !key.Proves(signed, text) {
		return nil, nil
	}
	reports := map[string]sealedReport{}
	if err := json.Unmarshal(text, &reports); err != nil {
		return nil, nil
	}
	return reports, nil
}

// sealedReader reads a report and compares it with its seal.
type sealedReader struct {
	f    io.Reader
	hash hash.Hash
	read int64
}

func newSealedReader(f io.Reader) *sealedReader {
	return &sealedReader{f: f, hash: sha256.New()}
}

func (r *sealedReader) Read(p []byte) (int, error) {
	n, err := r.f.Read(p)
	r.hash.Write(p[:n])
	r.read += int64(n)
	return n, err
}

// verify reads the rest. It returns errUnsealed if the content does not match the seal.
func (r *sealedReader) verify(want sealedReport) error {
	if _, err := io.Copy(io.Discard, io.LimitReader(r, max(0, want.Size-r.read)+1)); err != nil {
		return err
	}
	if r.read != want.Size || hex.EncodeToString(r.hash.Sum(nil)) != want.SHA256 {
		return errUnsealed
	}
	return nil
}

// unsealedTrouble explains why reports do not count.
func unsealedTrouble(names []string) string {
	return "pytest did not write " + strings.Join(names, " and ") + " as found: another process changed it, or ended pytest before"
}
