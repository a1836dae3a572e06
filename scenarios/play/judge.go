package play

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"

	"nictwin/models/ref"
	"nictwin/scenarios/play/own"
)

// judge decides whether the outputs of a run are right. It is a user's reference in a separate process, or a reference
// in this process, such as the checks of a manifest.
type judge interface {
	Drawn(stream string) (side, data []byte, ok bool)
	Plays(stream string) bool
	Listens(stream string) bool
	Longest() int
	Resets() bool
	Deliver(m *ref.Msg)
	Sync() // passes the queued transactions to the reference
	Reset(cycle uint64)
	Failed() *ref.Failure
	Fail(f ref.Failure)
	Over() bool
	Missing() int
	Judged() int
	Stuck(cycle uint64, silence string)
	Finish(cycle uint64)
	Tallies() []ref.Tally
	Memories() int
	Err() error // reason for which the judge can no longer answer, or nil
	Place() (file string, line int)
	Close() error // returns an error that occurred after the judge's last answer
}

var _, _ judge = localJudge{}, (*own.Player)(nil)

// localJudge is a judge in this process. Mistakes of its reference are panics, which function caught turns
// into errors.
type localJudge struct {
	*ref.Player
	own ref.Reference // reference of the user; nil: a check that the manifest names
}

// Sync does nothing: Deliver passes transactions on at once.
func (localJudge) Sync() {}

// Err returns nil.
func (localJudge) Err() error { return nil }

// Close returns nil.
func (localJudge) Close() error { return nil }

// Place returns the file and the line of the user's reference.
func (h localJudge) Place() (file string, line int) {
	if h.own == nil {
		return "", 0
	}
	return ref.Place(h.own)
}

// newJudge creates the judge of the run.
func (p *played) newJudge(ctx context.Context, seed uint64, plain bool) judge {
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
	served := x.Declare(&declared)
	switch {
	case p.own != nil:
		p.own(x)
	case p.check == Memory:
		p.memory(x, served)
	case p.check == Identity || p.check == Route:
		p.forward(x)
	}
	return localJudge{x, p.own}
}

// compared returns the number of output transactions that were compared: by a reference that listens to them, or by the
// rules of streams.
func (p *played) compared() int {
	if p.referenced() {
		return p.judge.Judged()
	}
	return p.Compared
}

// close closes the judge. It returns err or, if err is nil, an error that the judge reports only now.
func (p *played) close(err error) error {
	if p.judge == nil {
		return err
	}
	late := p.judge.Close()
	return cmp.Or(err, late)
}

// mistake returns an error about a mistake of the reference that no single call shows.
func (p *played) mistake(format string, a ...any) error {
	file, line := p.judge.Place()
	return &RefError{File: file, Line: line, What: fmt.Sprintf(format, a...)}
}
