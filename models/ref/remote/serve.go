package remote

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/debug"

	"nictwin/models/ref"
)

// Serve answers requests until the channel ends. Before each call into the reference, it writes a Note of the call
// into `note`.
func Serve(in io.Reader, out io.Writer, note io.WriterAt, f ref.Reference) error {
	s := server{reference: f, requests: gob.NewDecoder(in), answers: newWriter(out), note: note}
	for {
		var r Request
		switch err := s.requests.Decode(&r); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("channel: %w", err)
		}
		if err := s.serve(&r); err != nil {
			return fmt.Errorf("channel: %w", err)
		}
	}
}

// server holds the state of the run in the reference's process. It implements ref.Host for the reference's player.
type server struct {
	reference ref.Reference
	requests  *gob.Decoder
	answers   *writer
	note      io.WriterAt
	calls     uint64 // number of calls into the reference
	last      Note   // note of the latest call

	setup  *Setup
	p      *ref.Player
	all    []*ref.Stream
	number map[string]int // index of each stream in server.all, by name
	told   uint64
	now    *Request
	jobs   int
	offers []Offer
}

var _ ref.Host = (*server)(nil)

// serve answers one request.
func (s *server) serve(r *Request) error {
	if (r.Kind == Begin) != (s.p == nil) || (r.Kind == Begin) != (r.Setup != nil) {
		return fmt.Errorf("request %d of kind %d: a run begins once, with a setup", r.N, r.Kind)
	}
	if r.Setup != nil {
		s.setup = r.Setup
	}
	s.now, s.offers = r, nil
	a := &Answer{N: r.N}
	s.guard(a, func() { s.do(r, a) })
	s.idle()
	return s.answer(a)
}

// answer completes an answer and sends it.
func (s *server) answer(a *Answer) error {
	a.Told, a.Jobs = s.told, s.jobs
	if a.Mistake == nil {
		a.Offers = s.offers
	}
	return s.answers.send(s.setup.Nonce, a)
}

// guard calls f, which calls into the reference. It turns a panic into the answer's mistake. If the reference ends
// this goroutine (runtime.Goexit), guard sends the answer, since nothing after it runs any more.
func (s *server) guard(a *Answer, f func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		r := recover()
		if a.Mistake = s.mistake(r); r == nil {
			_ = s.answer(a) // if this fails, the player sees that no answer comes
		}
	}()
	f()
	returned = true
}

// do carries out a request, and collects the state after it.
func (s *server) do(r *Request, a *Answer) {
	switch r.Kind {
	case Begin:
		s.begin(a)
	case Draw:
		a.Side, a.Data, a.Drawn = s.p.Drawn(s.all[r.Stream].Name)
	case Deliver:
		for i := range r.Msgs {
			m := &r.Msgs[i]
			if s.told++; s.p.Failed() == nil {
				s.p.Deliver(&ref.Msg{Of: s.all[m.Stream], N: m.N, First: m.First, Last: m.Last, Side: m.Side,
					Data: m.Data})
			}
		}
	case Reset:
		s.p.Reset(r.Cycle)
	case Stuck:
		s.p.Stuck(r.Cycle, r.Silence)
	case End:
		s.p.Finish(r.Cycle)
		a.Tallies, a.Memories = s.p.Tallies(), s.p.Memories()
	}
	s.state(r, a)
}

// begin sets up the run.
func (s *server) begin(a *Answer) {
	x := s.setup
	if x.Stack > 0 {
		debug.SetMaxStack(x.Stack)
	}
	s.number = map[string]int{}
	for i := range x.Streams {
		s.all = append(s.all, &x.Streams[i])
		s.number[x.Streams[i].Name] = i
	}
	a.File, a.Line = ref.Place(s.reference)
	s.p = ref.New(s, rand.New(rand.NewPCG(x.Seed, 1)), s.all, x.Plain)
	s.p.Declare(&x.Declared)
	s.p.Bound(x.Most)
	s.p.Watch(s.entered)
	s.entered(ref.Call{What: "Reference", File: a.File, Line: a.Line})
	s.reference(s.p)
}

// state adds the reference's state to an answer.
func (s *server) state(r *Request, a *Answer) {
	for _, x := range s.all {
		a.Uses = append(a.Uses,
			StreamUse{Draws: s.p.Draws(x.Name), Plays: s.p.Plays(x.Name), Listens: s.p.Listens(x.Name)})
	}
	a.Failure, a.Longest, a.Missing, a.Judged = s.p.Failed(), s.p.Longest(), s.p.Missing(), s.p.Judged()
	a.Resets, a.HasDone = s.p.Resets(), s.p.HasDone()
	if r.Kind == Over || !a.HasDone {
		a.Over = s.p.Over()
	}
}
