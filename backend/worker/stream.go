package worker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// A byte stream has one session, whose calls are made one after another. If the stream breaks, the session
// ends.
//
// A request is an openRequest, the first one, or a callRequest, in JSON: frames of frameMore, and one of
// frameAsk. Its blobs come before it: frameBlob with a digest, and frameMore with the content. The answer
// consists of frames up to frameResult. frameCancel cancels the running call.
const (
	frameMore    = 'm'
	frameAsk     = 'q'
	frameBlob    = 'b'
	frameCancel  = 'x'
	frameStarted = 's' // the session is about to run the command
)

// frames receives frames of several goroutines.
type frames interface {
	add(kind byte, data []byte) error
}

// frameWriter writes frames to a stream.
type frameWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (f *frameWriter) add(kind byte, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for rest := kind; ; kind = rest {
		part := data[:min(len(data), frameSize)]
		if data = data[len(part):]; len(data) > 0 && (kind == frameAsk || kind == frameResult) {
			kind = frameMore
		}
		head := frameHead(kind, len(part))
		if _, err := f.w.Write(append(head[:], part...)); err != nil {
			return err
		}
		if len(data) == 0 {
			return nil
		}
	}
}

// OpenFunc opens the session of a stream on a machine whose inputs are in store.
type OpenFunc func(ctx context.Context, store cache.Store, spec backend.Spec) (backend.Session, error)

// ServeStream serves one session until r ends, and then cancels the running call. The caller must end the
// session's processes. Blobs are kept in dir until they are placed.
func ServeStream(ctx context.Context, r io.Reader, w io.Writer, dir string, open OpenFunc) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &streamServer{out: &frameWriter{w: w}, store: &blobs{Memory: cache.NewMemory(), dir: dir}, asked: make(chan streamCall)}
	read := make(chan error, 1)
	go func() {
		defer cancel()
		defer close(s.asked)
		read <- s.read(ctx, r)
	}()
	for c := range s.asked {
		r := s.answer(c, open)
		s.store.clear() // the next blobs are sent after this answer
		if err := s.out.add(frameResult, encode(r)); err != nil {
			return err
		}
	}
	return <-read
}

type streamServer struct {
	out     *frameWriter
	store   *blobs
	asked   chan streamCall
	session backend.Session
}

type streamCall struct {
	ctx  context.Context
	text []byte
	err  error // of the preceding blobs
}

// read reads requests up to the end of the stream.
func (s *streamServer) read(ctx context.Context, r io.Reader) error {
	var buffer, text []byte
	var failed error
	cancel := func() {} // of the last call
	for {
		kind, data, err := readFrame(r, &buffer)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		switch kind {
		case frameMore:
			text = append(text, data...)
		case frameBlob:
			digest, err := cache.ParseDigest(string(data))
			if err == nil {
				err = s.store.receive(digest, r)
			}
			failed = errors.Join(failed, err)
		case frameCancel:
			cancel()
		case frameAsk:
			call, stop := context.WithCancel(ctx)
			defer stop()
			cancel = stop
			select {
			case s.asked <- streamCall{call, append(text, data...), failed}:
			case <-ctx.Done():
				return ctx.Err()
			}
			text, failed = nil, nil
		default:
			return fmt.Errorf("unknown frame %q", kind)
		}
	}
}

func (s *streamServer) answer(c streamCall, open OpenFunc) (r callResult) {
	fail := func(err error) callResult { return callResult{Failure: FailureOf(err)} }
	if c.err != nil {
		return fail(c.err)
	}
	if s.session == nil {
		var ask openRequest
		err := json.Unmarshal(c.text, &ask)
		if err == nil {
			s.session, err = open(c.ctx, s.store, ask.Spec)
		}
		if err != nil {
			return fail(err)
		}
		return callResult{Dir: s.session.Dir()}
	}
	var ask callRequest
	if err := json.Unmarshal(c.text, &ask); err != nil {
		return fail(err)
	}
	if ask.Exec != nil {
		if err := s.out.add(frameStarted, nil); err != nil {
			return fail(err)
		}
	}
	h := &hostedSession{host: &Host{}, session: s.session}
	return h.serve(c.ctx, s.out, ask)
}

// blobs stores content in files of a directory, which is created for the first one.
type blobs struct {
	*cache.Memory
	dir string
}

func (b *blobs) path(d cache.Digest) string { return filepath.Join(b.dir, d.Hex()) }

// receive stores the blob that follows in a stream.
func (b *blobs) receive(want cache.Digest, r io.Reader) error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	file, err := os.Create(b.path(want))
	if err != nil {
		return err
	}
	sum := sha256.New()
	got := cache.Digest{}
	got.Size, err = io.Copy(io.MultiWriter(file, sum), &content{r: r, left: want.Size})
	sum.Sum(got.Hash[:0])
	if err = errors.Join(err, file.Close()); err == nil && got != want {
		err = fmt.Errorf("blob %s arrived as %s", want, got)
	}
	return err
}

// Open implements cache.Store.
func (b *blobs) Open(_ context.Context, d cache.Digest) (io.ReadCloser, error) {
	file, err := os.Open(b.path(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &cache.MissingError{Digest: d}
	}
	return file, err
}

// Has implements cache.Store.
func (b *blobs) Has(_ context.Context, d cache.Digest) (bool, error) {
	_, err := os.Stat(b.path(d))
	return err == nil, nil
}

func (b *blobs) clear() { _ = os.RemoveAll(b.dir) }

// content reads the content of frames.
type content struct {
	r      io.Reader
	left   int64
	buffer []byte
	data   []byte
}

func (c *content) Read(p []byte) (int, error) {
	for len(c.data) == 0 {
		if c.left == 0 {
			return 0, io.EOF
		}
		kind, data, err := readFrame(c.r, &c.buffer)
		if err != nil {
			return 0, err
		}
		if kind != frameMore || int64(len(data)) > c.left {
			return 0, fmt.Errorf("frame %q in a blob", kind)
		}
		c.data, c.left = data, c.left-int64(len(data))
	}
	n := copy(p, c.data)
	c.data = c.data[n:]
	return n, nil
}

// Stream is the session at the other end of a byte stream. It ends when the byte stream is closed.
type Stream struct {
	r     io.Reader
	out   *frameWriter
	store cache.Store
	dir   string
	busy  *streamFile // a file is being collected
	err   error       // why no more requests are possible
	// Started is called when a command is about to run.
	Started func()
}

// BrokenError means that a stream ended during a request, so the state of the session is unknown.
type BrokenError struct{ Err error }

func (e *BrokenError) Error() string { return fmt.Sprintf("the runner ended: %v", e.Err) }

// Unwrap returns the reason.
func (e *BrokenError) Unwrap() error { return e.Err }

// OpenStream opens the session that is served at the other end.
func OpenStream(ctx context.Context, r io.Reader, w io.Writer, store cache.Store, spec backend.Spec) (*Stream, error) {
	s := &Stream{r: r, out: &frameWriter{w: w}, store: store}
	answer, err := s.ask(ctx, openRequest{Spec: spec}, spec.Inputs, nil)
	s.dir = answer.Dir
	return s, err
}

// Dir implements backend.Session.
func (s *Stream) Dir() string { return s.dir }

// Place implements backend.Session.
func (s *Stream) Place(ctx context.Context, inputs ...backend.Input) error {
	if len(inputs) == 0 {
		return nil
	}
	_, err := s.ask(ctx, callRequest{Place: inputs}, inputs, nil)
	return err
}

// Exec implements backend.Session.
func (s *Stream) Exec(ctx context.Context, cmd backend.Command) (backend.Exit, error) {
	writers := map[byte]io.Writer{frameOutput: cmd.Output, frameErrors: cmd.Errors, frameNotes: cmd.Notes}
	ask := callRequest{Apart: cmd.Errors != nil}
	cmd.Output, cmd.Errors, cmd.Notes = nil, nil, nil
	ask.Exec = &cmd
	var failed error // of a writer, which must not end the command
	r, err := s.ask(ctx, ask, nil, func(kind byte, data []byte) {
		if kind == frameStarted && s.Started != nil {
			s.Started()
		} else if w := writers[kind]; w != nil && failed == nil {
			_, failed = w.Write(data)
		}
	})
	return r.Exit, errors.Join(err, failed)
}

// Collect implements backend.Session.
func (s *Stream) Collect(ctx context.Context, path string) (io.ReadCloser, error) {
	if err := s.send(ctx, callRequest{Collect: &path}, nil); err != nil {
		return nil, err
	}
	f := &streamFile{s: s}
	s.busy = f
	if err := f.fill(); err != nil && err != io.EOF {
		return nil, err
	}
	return f, nil
}

// streamFile is a file in transfer.
type streamFile struct {
	s      *Stream
	buffer []byte
	data   []byte
	err    error // after data
}

// fill reads a frame, unless data of the last one is left.
func (f *streamFile) fill() error {
	for len(f.data) == 0 && f.err == nil {
		r, kind, data, err := f.s.next(&f.buffer)
		switch {
		case err != nil:
			f.err = err
		case kind == frameResult:
			f.s.busy, f.err = nil, io.EOF
			if err := r.Failure.Err(); err != nil {
				f.err = err
			}
		default:
			f.data = data
		}
	}
	if len(f.data) > 0 {
		return nil
	}
	return f.err
}

func (f *streamFile) Read(p []byte) (int, error) {
	if err := f.fill(); err != nil {
		return 0, err
	}
	n := copy(p, f.data)
	f.data = f.data[n:]
	return n, nil
}

// Close reads the rest of the file, since no other request is possible before.
func (f *streamFile) Close() error {
	for f.data = nil; f.err == nil; f.data = nil {
		_ = f.fill()
	}
	return nil
}

// List implements backend.Lister.
func (s *Stream) List(ctx context.Context, dir string, most int) (names []string, err error) {
	var text bytes.Buffer
	_, err = s.ask(ctx, callRequest{List: &listRequest{dir, most}}, nil, func(_ byte, data []byte) {
		if text.Len()+len(data) > maxAnswer {
			_ = s.breakStream(fmt.Errorf("list exceeds %d bytes", maxAnswer))
		} else {
			text.Write(data)
		}
	})
	if err == nil {
		err = json.Unmarshal(text.Bytes(), &names)
	}
	return names, err
}

// Verify implements backend.Session.
func (s *Stream) Verify(ctx context.Context) error {
	_, err := s.ask(ctx, callRequest{Verify: true}, nil, nil)
	return err
}

// ask makes a request and passes on frames up to its answer. If ctx is cancelled, it cancels the request
// on the other side.
func (s *Stream) ask(ctx context.Context, request any, inputs []backend.Input, hand func(kind byte, data []byte)) (r callResult, err error) {
	if err := s.send(ctx, request, inputs); err != nil {
		return r, err
	}
	defer context.AfterFunc(ctx, func() { _ = s.out.add(frameCancel, nil) })()
	for buffer := []byte(nil); ; {
		answer, kind, data, err := s.next(&buffer)
		switch {
		case err != nil:
			return r, err
		case kind == frameResult && ctx.Err() != nil && answer.Failure != nil:
			return r, context.Cause(ctx)
		case kind == frameResult:
			return *answer, answer.Failure.Err()
		case hand != nil:
			hand(kind, data)
		}
	}
}

// send sends a request after the blobs of its inputs.
func (s *Stream) send(ctx context.Context, request any, inputs []backend.Input) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if s.busy != nil {
		_ = s.busy.Close()
	}
	if s.err != nil {
		return s.err
	}
	seen := map[cache.Output]bool{}
	for _, o := range inputsOf(inputs) {
		if err := cache.EachBlob(ctx, s.store, o, seen, func(o cache.Output) error { return s.sendBlob(ctx, o.Digest) }); err != nil {
			return err
		}
	}
	return s.breakStream(s.out.add(frameAsk, encode(request)))
}

// sendBlob sends a whole blob, or breaks the stream.
func (s *Stream) sendBlob(ctx context.Context, d cache.Digest) error {
	blob, err := s.store.Open(ctx, d)
	if err != nil {
		return err
	}
	defer blob.Close()
	if err := s.breakStream(s.out.add(frameBlob, []byte(d.String()))); err != nil {
		return err
	}
	n, err := io.Copy(blobWriter{s.out}, blob)
	if err == nil && n != d.Size {
		err = &cache.CorruptError{Digest: d}
	}
	return s.breakStream(err)
}

type blobWriter struct{ out *frameWriter }

func (w blobWriter) Write(p []byte) (int, error) { return len(p), w.out.add(frameMore, p) }

// breakStream ends the stream with err, unless it is nil.
func (s *Stream) breakStream(err error) error {
	if err != nil && s.err == nil {
		s.err = &BrokenError{err}
	}
	return s.err
}

// next reads a frame of an answer.
func (s *Stream) next(buffer *[]byte) (r *callResult, kind byte, data []byte, err error) {
	var text []byte
	for {
		kind, data, err := readFrame(s.r, buffer)
		if err == nil && len(text)+len(data) > maxAnswer {
			err = fmt.Errorf("answer exceeds %d bytes", maxAnswer)
		}
		if err == nil && kind == frameMore {
			text = append(text, data...)
			continue
		}
		if err == nil && kind == frameResult {
			r = &callResult{}
			err = json.Unmarshal(append(text, data...), r)
		}
		return r, kind, data, s.breakStream(err)
	}
}
