package play

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"

	"nictwin/models/ref"
	"nictwin/scenarios/play/own"
)

// judge says what is right in a run: a reference of the user's in a process of its own, or one in this process, as the
// checks of a manifest are.
type judge interface {
	Drawn(stream string) (side, data []byte, ok bool)
	Plays(stream string) bool
	Listens(stream string) bool
	Longest() int
	Resets() bool
	Tell(m *ref.Msg)
	Sync() // delivers the transactions that Tell has queued
	Reset(cycle uint64)
	Failed() *ref.Failure
	Fail(f ref.Failure)
	Over() bool
	Missing() int
	Judged() int
	Stuck(cycle uint64, silence string)
	Ends(cycle uint64)
	Tallies() []ref.Tally
	Memories() int
	Err() error // it has no say any more
	Place() (file string, line int)
	Close() error // how it failed after its last word; nil: it did not
}

var _, _ judge = here{}, (*own.Player)(nil)

// here is a judge in this process. Mistakes of a reference are panics, see caught.
type here struct {
	*ref.Player
	own ref.Reference // the user's; nil: none
}

// Sync does nothing: Tell delivers at once.
func (here) Sync() {}

// Err returns nil.
func (here) Err() error { return nil }

// Close returns nil.
func (here) Close() error { return nil }

// Place returns where the reference begins.
func (h here) Place() (file string, line int) {
	if h.own == nil {
		return "", 0
	}
	return ref.Place(h.own)
}

// judge sets up who judges the run.
func (p *played) judge(ctx context.Context, seed uint64, plain bool) judge {
	declared := p.declared()
	if p.program != nil {
		r := &own.Run{Seed: seed, Streams: p.streams, Plain: plain, Declared: declared, Some: p.Keep != nil,
			Parameters: p.Manifest.Parameters}
		for _, s := range p.Keep {
			r.Keep = append(r.Keep, [2]int{s.From, s.To})
		}
		for _, o := range p.hello.Observe {
			r.Observe = append(r.Observe, o.Name)
		}
		return p.program.Start(ctx, p, r)
	}
	x := ref.New(p, rand.New(rand.NewPCG(seed, 1)), p.streams, plain)
	behind := x.Declare(&declared)
	switch {
	case p.own != nil:
		p.own(x)
	case p.check == Memory:
		p.memory(x, behind)
	case p.check == Identity || p.check == Route:
		p.forward(x)
	}
	return here{x, p.own}
}

// compared returns how many transactions of outputs were compared: by a reference that looks at them, or by the rules
// of streams.
func (p *played) compared() int {
	if p.referenced() {
		return p.p.Judged()
	}
	return p.Compared
}

// close ends who judges the run. It returns err, or else how the judge failed at last.
func (p *played) close(err error) error {
	if p.p == nil {
		return err
	}
	late := p.p.Close()
	return cmp.Or(err, late)
}

// mistake is one of the reference that shows in a run as a whole.
func (p *played) mistake(format string, a ...any) error {
	file, line := p.p.Place()
	return &RefError{File: file, Line: line, What: fmt.Sprintf(format, a...)}
}
