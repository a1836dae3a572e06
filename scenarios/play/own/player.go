package own

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"nictwin/models/ref"
	"nictwin/models/ref/remote"
)

// Host is the run that a reference takes part in: it accepts the transactions and jobs of the reference.
type Host interface {
	Offer(o ref.Offer)
	Job() bool
	Sampled() []uint64 // values of the observed outputs, in the order of Run.Observe
	Now() uint64
}

// Run describes a run to a reference before it begins.
type Run struct {
	Seed       uint64
	Streams    []*ref.Stream
	Plain      bool // the run has no stalls
	Declared   ref.Declared
	Some       bool // the run includes only the jobs listed in Keep
	Keep       [][2]int
	Parameters map[string]string
	Observe    []string
}

// Player controls a reference in its own process, for one run. After a failure of the process it does nothing more, and
// Err returns the failure.
type Player struct {
	program *Program
	ctx     context.Context
	host    Host
	streams []*ref.Stream
	number  map[string]int
	x       *process
	wait    *patience
	enc     *gob.Encoder
	sent    *bufio.Writer
	answers *remote.Reader
	n       uint64 // number of the latest request
	told    uint64
	batch   []remote.Msg
	last    remote.Answer
	file    string // file and line of the reference's function
	line    int
	failed  *ref.Failure
	err     error
}

// Start starts a process for a run and lets the reference set it up. The Player must be closed.
func (p *Program) Start(ctx context.Context, h Host, r *Run) *Player {
	c := &Player{program: p, ctx: ctx, host: h, streams: r.Streams, number: map[string]int{}}
	setup := &remote.Setup{
		Nonce: rand.Uint64(), Seed: r.Seed, Plain: r.Plain, Declared: r.Declared, Some: r.Some, Keep: r.Keep,
		Parameters: r.Parameters,
		Observe:    r.Observe, Most: p.Limits.Count, Stack: p.Limits.stack(),
	}
	for i, s := range r.Streams {
		c.number[s.Name] = i
		setup.Streams = append(setup.Streams, *s)
	}
	if c.x, c.err = p.start(); c.err != nil {
		return c
	}
	c.wait = newPatience(ctx, c.x, p.Limits.S)
	c.sent = bufio.NewWriter(c.wait)
	c.enc, c.answers = gob.NewEncoder(c.sent), remote.NewReader(c.wait, setup.Nonce)
	c.ask(&remote.Request{Kind: remote.Begin, Setup: setup})
	return c
}

// Close ends the process. It returns a failure of the process after its last answer: *RefError or *LostError.
func (c *Player) Close() error {
	if c.x == nil {
		return nil
	}
	if c.err != nil {
		c.x.close()
		return nil
	}
	note := c.x.under()
	_ = c.x.requests.Close() // makes the process end
	alone := c.x.ended(ending)
	c.x.close()
	if alone && !c.x.cmd.ProcessState.Success() {
		return c.end(note)
	}
	_, _ = c.program.output.Write([]byte(c.x.trace())) // the process did not panic, so this is ordinary output
	return nil
}

// Err returns the failure of the process: *RefError, *LostError, or why the context ended.
func (c *Player) Err() error { return c.err }

// ask sends a request, waits for the answer and applies it.
func (c *Player) ask(r *remote.Request) {
	if c.err != nil {
		return
	}
	c.n++
	r.N, r.Cycle, r.Observed = c.n, c.host.Now(), slices.Clone(c.host.Sampled())
	c.wait.begin()
	err := c.enc.Encode(r)
	if err == nil {
		err = c.sent.Flush()
	}
	var a *remote.Answer
	if _, over := errors.AsType[*overError](err); !over {
		a, err = c.answers.Receive() // sent before the process ended
	}
	if err == nil {
		err = c.check(r, a)
	}
	if err != nil {
		c.err = c.explain(err)
		return
	}
	c.accept(a)
}

// check checks that an answer belongs to a request.
func (c *Player) check(r *remote.Request, a *remote.Answer) error {
	switch {
	case a.N != r.N:
		return &remote.FrameError{What: "it is not the answer to what was asked"}
	case a.Mistake != nil:
		return nil
	case a.Told != c.told || len(a.Uses) != len(c.streams) || a.Jobs < c.last.Jobs:
		return &remote.FrameError{What: fmt.Sprintf("it has seen %d of %d transactions", a.Told, c.told)}
	case r.Kind == remote.End && len(a.Tallies) != len(c.streams):
		return &remote.FrameError{What: "it has no tallies"}
	}
	for _, o := range a.Offers {
		if o.Stream < 0 || o.Stream >= len(c.streams) || !c.streams[o.Stream].In ||
			len(o.Side) != c.streams[o.Stream].SideBytes() {
			return &remote.FrameError{What: fmt.Sprintf("it gives a transaction to stream %d", o.Stream)}
		}
	}
	return nil
}

// accept applies what the reference did in answering.
func (c *Player) accept(a *remote.Answer) {
	if a.File != "" {
		c.file, c.line = a.File, a.Line
	}
	if m := a.Mistake; m != nil {
		c.err = c.program.mistake(m.File, m.Line, "%s", m.What)
		return
	}
	for range a.Jobs - c.last.Jobs {
		c.host.Job()
	}
	for _, o := range a.Offers {
		c.host.Offer(ref.Offer{Stream: c.streams[o.Stream], Delay: o.Delay, Side: o.Side, Data: o.Data,
			Answer: o.Answer})
	}
	if f := a.Failure; f != nil && c.failed == nil {
		for _, text := range []*string{&f.Stream, &f.Field, &f.Expected, &f.Got, &f.Detail} {
			*text = clipped(*text)
		}
		c.failed = f
	}
	a.Offers = nil
	c.last = *a
}
