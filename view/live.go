package view

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// liveView shows a bar and the running nodes at the bottom of a terminal, and failures above them. It
// neither hides the cursor nor changes the terminal's mode, so a crash leaves the terminal intact.
//
// The bar is drawn from the tally a few times a second; events are only counted. So a million cached nodes
// cost a million additions without drawing.
type liveView struct {
	out     io.Writer
	now     func() time.Time
	lines   lines
	options []mpb.ContainerOption

	// Both are nil until the first event, so that a run that never starts
	// draws nothing. Emit and Close use them; mu is for others.
	progress *mpb.Progress
	bar      *mpb.Bar

	mu     sync.Mutex // Emit, Write, Close and the drawing goroutines of mpb
	tally  tally
	causes repeats
	err    error
	closed bool
}

func newLiveView(o Options) *liveView {
	v := &liveView{
		out:     o.Err,
		now:     o.Now,
		lines:   lines{text.NewPalette(o.Color), o.Verbose, o.Width},
		options: []mpb.ContainerOption{mpb.WithOutput(o.Err), mpb.WithAutoRefresh()},
	}
	if o.Width > 0 {
		v.options = append(v.options, mpb.WithWidth(o.Width))
	}
	return v
}

// draw begins to draw.
func (v *liveView) draw() {
	progress := mpb.New(v.options...)
	v.mu.Lock()
	v.progress = progress
	v.mu.Unlock()
	style := mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]").Build()
	// With a total of 0, Close ends the bar; the real total is in the tally.
	v.bar = progress.MustAdd(0, mpb.BarFillerFunc(func(w io.Writer, s decor.Statistics) error {
		v.mu.Lock()
		s.Total, s.Current = int64(v.tally.total), int64(v.tally.done)
		v.mu.Unlock()
		// On a wide terminal, the rest is for the counts.
		const widest, narrowest = 32, 8
		if s.AvailableWidth < narrowest {
			return nil
		}
		s.RequestedWidth = min(widest, s.AvailableWidth)
		return style.Fill(w, s)
	}),
		mpb.BarExtender(mpb.BarFillerFunc(v.drawRunning), true),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return v.position() })),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return v.counts() })),
	)
}

// Emit implements event.Sink.
func (v *liveView) Emit(e event.Event) {
	above, closed := v.count(e)
	if closed {
		return
	}
	if v.progress == nil {
		v.draw()
	}
	if above == "" {
		return
	}
	if _, err := io.WriteString(v, above); err != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.err == nil {
			v.err = err
		}
	}
}

// Write writes whole lines above the bar, or at its former position. It is safe for concurrent use.
func (v *liveView) Write(p []byte) (int, error) {
	v.mu.Lock()
	progress := v.progress
	v.mu.Unlock()
	if progress == nil {
		return v.out.Write(p)
	}
	// Without the lock: mpb writes from the goroutine that draws, and drawing
	// takes the lock.
	n, err := progress.Write(p)
	if errors.Is(err, mpb.ErrDone) {
		return v.out.Write(p)
	}
	return n, err
}

// count adds e to the tally and returns the text to print above the bar for it.
func (v *liveView) count(e event.Event) (above string, closed bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return "", true
	}
	ran := false
	if done, ok := e.(event.NodeDone); ok {
		ran = v.tally.stop(done.Addr)
	}
	v.tally.add(e, v.now())
	switch e := e.(type) {
	case event.NodeRetry:
		if v.lines.verbose || !v.causes.isRepeatedRetry(e) {
			above = v.lines.retry("", e)
		}
	case event.NodeNote:
		above = v.lines.note("", e)
	case event.Verdict:
		if !isGood(e) || v.lines.verbose {
			above = v.lines.verdict("", e, nil)
		}
	case event.NodeDone:
		if v.lines.verbose && v.lines.worthALine(e, ran) || !v.lines.verbose && needsAttention(e.State) && e.State != event.Blocked && !v.causes.isRepeated(e) {
			above = v.lines.endLine("", e)
		}
	}
	return above, false
}

// Close implements View: the bar disappears, the lines above it remain. It is called by the goroutine that
// called Emit, or after the last Emit.
func (v *liveView) Close() error {
	v.mu.Lock()
	first := !v.closed
	v.closed = true
	v.mu.Unlock()
	if first && v.progress != nil {
		v.bar.Abort(true)
		v.progress.Wait()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if first {
		if _, err := io.WriteString(v.out, v.causes.summary(v.lines, "")); err != nil && v.err == nil {
			v.err = err
		}
	}
	return v.err
}

func (v *liveView) position() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return fmt.Sprintf("%d/%d ", v.tally.done, v.tally.total)
}

// counts returns " ran 4, cached 8, 12 passed, 3 failed, broken 1  12.3s  ~1m10s left".
func (v *liveView) counts() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	t, now := &v.tally, v.now()
	out := fmt.Sprintf(" ran %d, cached %d", t.ran, t.cached)
	if t.good > 0 {
		out += ", " + v.lines.palette.Good(fmt.Sprintf("%d passed", t.good))
	}
	if t.bad > 0 {
		out += ", " + v.lines.palette.Bad(fmt.Sprintf("%d failed", t.bad))
	}
	if t.failed > 0 {
		out += ", " + v.lines.palette.Bad(fmt.Sprintf("failed %d", t.failed))
	}
	if t.broken > 0 {
		out += ", " + v.lines.palette.Doubt(fmt.Sprintf("broken %d", t.broken))
	}
	if !t.started.IsZero() {
		out += "  " + text.Duration(now.Sub(t.started).Seconds())
	}
	if left, ok := t.remaining(); ok {
		out += fmt.Sprintf("  ~%s left", text.Duration(left))
	}
	return out
}

// drawRunning writes a line for each running node, as many as fit. mpb puts the first line next to the
// bar, so they are written from the shortest to the longest running.
func (v *liveView) drawRunning(w io.Writer, s decor.Statistics) error {
	room := max(v.height()-4, 1) // the bar, the count of the others, and a margin
	v.mu.Lock()
	defer v.mu.Unlock()
	now, running := v.now(), v.tally.running
	if others := len(running) - room; others > 0 {
		running = running[:room]
		fmt.Fprintf(w, "  %s %s\n", text.Ellipsis, text.Count(others, "other"))
	}
	for _, n := range slices.Backward(running) {
		elapsed := fmt.Sprintf("  %7s  ", text.Duration(now.Sub(n.since).Seconds()))
		addr := text.Line(n.addr, 0)
		if n.attempt > 1 {
			addr += fmt.Sprintf("  attempt %d", n.attempt)
		}
		// A line that wraps would be counted as one and leave a trail.
		addr = text.Cut(addr, max(s.AvailableWidth-len(elapsed)-1, 1))
		if _, err := fmt.Fprintln(w, v.lines.palette.Quiet(elapsed)+addr); err != nil {
			return err
		}
	}
	return nil
}

// height of the terminal in lines.
func (v *liveView) height() int {
	const usual = 24
	if f, ok := v.out.(*os.File); ok {
		if _, height, err := term.GetSize(int(f.Fd())); err == nil && height > 0 {
			return height
		}
	}
	return usual
}
