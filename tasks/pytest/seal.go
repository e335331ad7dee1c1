package pytest

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Other processes of the tests' user, such as those of the submission, can write to the workspace and to
// the log while pytest runs. So a report counts only with a seal: pytest's own process, which these
// processes can neither trace nor read, keeps it until it ends, and signs it with a key that it removed
// from the workspace before the tests began.

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
// The plugin does not shorten messages if secrets have to be masked in them, since a part of a secret could remain.
func (r *Run) sealInputs(key proof.Key) []backend.Input {
	content := plugin
	if len(r.Env.Secrets()) > 0 {
		content = append(slices.Clip(plugin), "\nROOM = sys.maxsize\n"...)
	}
	return []backend.Input{
		pluginInput(pluginName, content),
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

// maxReport limits the size of a report. If tests import the submission, it can write the report, and
// verdicts on its tests take several times as much memory.
const maxReport = 16 << 20

// isAbsent reports whether a report does not exist, as opposed to an unreadable one.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, backend.ErrNotRegular)
}

// errUnsealed means that pytest's process did not write a report.
var errUnsealed = errors.New("pytest did not write its report as found: another process changed it, or ended pytest before")

// readSeal returns the proofs of the reports that pytest's process wrote, in hexadecimal, by their names; nil without a
// seal.
func readSeal(ctx context.Context, s backend.Session) (map[string]string, error) {
	const most = 4 << 10
	content, err := session.Read(ctx, s, sealPath, most)
	if err != nil && !isAbsent(err) && !errors.Is(err, session.ErrLarge) {
		return nil, fmt.Errorf("fetching %s: %w", sealPath, err)
	}
	var proofs map[string]string
	if json.Unmarshal(content, &proofs) != nil {
		return nil, nil
	}
	return proofs, nil
}

// readSealed returns a report that pytest's process wrote. It returns nil if it is missing, and errUnsealed or
// session.ErrLarge if it does not count.
func readSealed(ctx context.Context, s backend.Session, key proof.Key, proofs map[string]string, file string) ([]byte, error) {
	name := path.Base(file)
	content, err := session.Read(ctx, s, file, maxReport)
	switch {
	case isAbsent(err) && proofs[name] == "":
		return nil, nil
	case isAbsent(err):
		return nil, errUnsealed
	case err != nil:
		return nil, err
	}
	if given, err := hex.DecodeString(proofs[name]); err != nil || !key.Proves(given, []byte(name), []byte{0}, content) {
		return nil, errUnsealed
	}
	return content, nil
}
