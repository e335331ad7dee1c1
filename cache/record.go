package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"unique"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

// A stored record is one line of header, one of JSON, and the manifest:
//
//	fevalgraph-record 3 <64 hex: SHA-256 of the key's 32 bytes and all that follows the header> <64 hex: RecordKey.sign of the sum>
//	{"class":"done",...}
//	<the bytes of Record.Manifest>
//
// The key is part of the sum, so that a record under another key's name counts as damaged. Version 2 is
// the same without a signature, for stores without a RecordKey.
const (
	recordMagic     = "fevalgraph-record "
	unsignedVersion = "2"
	signedVersion   = "3"
)

// maxRecordBytes is the maximum size of a record. The manifest of a source has a line for each of its
// files.
const maxRecordBytes = 256 << 20

var (
	errBadRecord    = errors.New("malformed record")
	errOtherVersion = errors.New("record of another version")
)

func recordSum(k Key, payload []byte) []byte {
	h := sha256.New()
	h.Write(k[:])
	h.Write(payload)
	return h.Sum(nil)
}

// EncodeRecord returns the stored form of r as the answer for k, signed by signer, which
// can be nil.
func EncodeRecord(signer RecordKey, k Key, r *Record) ([]byte, error) {
	switch {
	case r == nil:
		return nil, errors.New("no record")
	case !r.Class.Stored():
		return nil, fmt.Errorf("class %q is never stored", r.Class)
	}
	payload, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	payload = append(append(payload, '\n'), r.Manifest...)
	if len(payload) > maxRecordBytes-1024 {
		return nil, fmt.Errorf("record of %d bytes is too large", len(payload))
	}
	sum := recordSum(k, payload)
	if len(signer) > 0 {
		return fmt.Appendf(nil, "%s%s %x %x\n%s", recordMagic, signedVersion, sum, signer.sign(sum), payload), nil
	}
	return fmt.Appendf(nil, "%s%s %x\n%s", recordMagic, unsignedVersion, sum, payload), nil
}

// DecodeRecord decodes the result of EncodeRecord for k. If signer did not sign an otherwise valid record,
// it returns a *ForeignError. Without a signer, every valid record is accepted.
func DecodeRecord(signer RecordKey, k Key, b []byte) (*Record, error) {
	rest, ok := bytes.CutPrefix(b, []byte(recordMagic))
	if !ok {
		return nil, errBadRecord
	}
	header, payload, ok := bytes.Cut(rest, []byte("\n"))
	if !ok {
		return nil, errBadRecord
	}
	version, digits, ok := bytes.Cut(header, []byte(" "))
	digits, signature, signed := bytes.Cut(digits, []byte(" "))
	sum := recordSum(k, payload)
	switch {
	case !ok || !isNumber(version):
		return nil, errBadRecord
	case string(version) != signedVersion && string(version) != unsignedVersion:
		return nil, errOtherVersion
	case string(digits) != hex.EncodeToString(sum), signed != (string(version) == signedVersion):
		return nil, errBadRecord
	case len(signer) > 0 && !signer.isSigned(sum, signature):
		return nil, &ForeignError{Key: k}
	}
	r := new(Record)
	text, manifest, _ := bytes.Cut(payload, []byte("\n"))
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%w: %w", errBadRecord, err)
	}
	// The records of a run contain few distinct strings, which the answers of its nodes keep in memory.
	r.Class, r.Run = unique.Make(r.Class).Value(), unique.Make(r.Run).Value()
	for i := range r.Outputs {
		r.Outputs[i].Name = unique.Make(r.Outputs[i].Name).Value()
	}
	if len(manifest) > 0 {
		r.Manifest = manifest
	}
	if !r.Class.Stored() {
		return nil, fmt.Errorf("%w: class %q", errBadRecord, r.Class)
	}
	return r, nil
}

func isNumber(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// Stored reports whether a record can have the class.
func (c Class) Stored() bool {
	return c == ClassDone || c == ClassFailed || c == ClassTimeout
}

// checkOutputs returns an error for a record whose blobs are not stored.
func checkOutputs(ctx context.Context, s Store, r *Record) error {
	for _, o := range r.Outputs {
		ok, err := s.Has(ctx, o.Digest)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("output %q: %w", o.Name, &MissingError{Digest: o.Digest})
		}
	}
	return nil
}

func (d *Disk) recordPath(k Key) string { return d.shardPath(acDir, k.String()) }

// Record implements Store. It counts as a use of the record, not of its blobs. A record of another version
// of the program reads as nil. It is not dropped, and neither is a foreign one.
func (d *Disk) Record(ctx context.Context, k Key) (*Record, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	f, err := files.Open(d.files, d.recordPath(k))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading record %s: %w", k, err)
	}
	defer f.Close() // only after drop, since the identity of an open file is not reused
	fi, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading record %s: %w", k, err)
	}
	r, err := readRecord(d.signer, f, k)
	var foreign *ForeignError
	switch {
	case errors.As(err, &foreign):
		return nil, foreign
	case errors.Is(err, errOtherVersion):
		return nil, nil
	case errors.Is(err, errBadRecord):
		d.drop(f.Name(), fi)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading record %s: %w", k, err)
	}
	d.touch(f.Name(), fi)
	return r, nil
}

func readRecord(signer RecordKey, r io.Reader, k Key) (*Record, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxRecordBytes))
	if err != nil {
		return nil, err
	}
	return DecodeRecord(signer, k, b)
}

// peekRecord reads a record with any signature, without noting a use and without dropping it.
func (d *Disk) peekRecord(k Key) (*Record, error) {
	f, err := files.Open(d.files, d.recordPath(k))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readRecord(nil, f, k)
}

// PutRecord implements Store. If the store lacks an output of the record, it returns a *MissingError. The
// record survives the end of this process, but can be lost if the power fails within seconds; its checksum
// detects that, and the work is done again. Syncing would take longer than most work in a large graph.
func (d *Disk) PutRecord(ctx context.Context, k Key, r *Record) error {
	if err := d.putRecord(ctx, k, r); err != nil {
		return fmt.Errorf("storing record %s: %w", k, err)
	}
	return nil
}

func (d *Disk) putRecord(ctx context.Context, k Key, r *Record) error {
	if d.readOnly {
		return ErrReadOnly
	}
	b, err := EncodeRecord(d.signer, k, r)
	if err != nil {
		return err
	}
	if err := checkOutputs(ctx, d, r); err != nil {
		return err
	}
	return d.writeFile(d.recordPath(k), b)
}
