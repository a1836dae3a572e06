package data

import (
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/pipe"
)

// Fetcher returns the consuming end of a doorbell that a context rings for a core. The core's queue of copies reads the
// elements, and a polled record, from a range of host memory. The loop of the context's pipes polls again after each
// read.
func (a *Card) Fetcher(core, context int, at pipe.DoorbellPlace, host pipe.Extent) (pipe.Receiver, error) {
	c := a.cores[core]
	from, err := c.pipes.Alloc(host.Bytes, nicspec.LineBytes)
	if err != nil {
		return nil, fmt.Errorf("data: core %d: context %d: memory to fetch elements into: %w", core, context, err)
	}
	c.pipes.Mark(from, host.Bytes-pipe.LineBytes, driver.UseElements) // the record is the last line
	c.pipes.Mark(from+host.Bytes-pipe.LineBytes, pipe.LineBytes, driver.UseDoorbells)
	f := &hostReader{c: c, context: context, mover: pipe.NewStaged(c.cpu, &c.copies, from, host.From, host.Bytes),
		record: at.Record}
	f.recordRead, f.linesRead = f.endRecord, f.endLines
	r, err := pipe.NewFetcher(a.spec.Pipe, at, c.cpu, f)
	if err != nil {
		return nil, err
	}
	if at.Kind == pipe.Polled {
		c.polled[context] = append(c.polled[context], f)
	}
	return r, nil
}

// hostReader is a Fetcher's access to host memory. It limits how often a record is read.
type hostReader struct {
	c       *core
	context int
	mover   pipe.Mover
	record  uint64

	nextRead   simcore.Ps // time from which the record may be read again
	word       []byte     // destination of a record read that waits for nextRead
	recordDone func(error)
	linesDone  func(error)
	recordRead func(error) // method endRecord as a function value, made once
	linesRead  func(error) // method endLines as a function value, made once
}

// Write implements pipe.Mover; a Fetcher does not use it.
func (f *hostReader) Write(addr uint64, b []byte, done func(error)) { f.mover.Write(addr, b, done) }

// Read implements pipe.Mover.
func (f *hostReader) Read(addr uint64, b []byte, done func(error)) {
	if addr != f.record {
		f.linesDone = done
		f.c.stats.Fetches++
		f.mover.Read(addr, b, f.linesRead)
		return
	}
	f.word, f.recordDone = b, done
	f.readIfDue()
}

// readIfDue reads the record if a read waits and its time has come.
func (f *hostReader) readIfDue() {
	switch now := f.c.cpu.Now(); {
	case f.word == nil:
	case now < f.nextRead:
		f.wake().WakeAt(f.nextRead)
	default:
		b := f.word
		f.word, f.nextRead = nil, now+f.c.spec.RecordPoll
		f.c.stats.Records++
		f.mover.Read(f.record, b, f.recordRead)
	}
}

func (f *hostReader) endRecord(err error) {
	f.recordDone(err)
	f.wake().Wake()
}

func (f *hostReader) endLines(err error) {
	f.linesDone(err)
	f.wake().Wake()
}

// wake returns the loop that polls the context's pipes.
func (f *hostReader) wake() waker {
	if x := f.c.contexts[f.context]; x != nil {
		return x.loop
	}
	return nobody{} // the context was detached: there is no loop to wake
}

// waker is the part of a core's loop that fetching elements needs.
type waker interface {
	Wake()
	WakeAt(simcore.Ps)
}

type nobody struct{}

func (nobody) Wake()             {}
func (nobody) WakeAt(simcore.Ps) {}

// Posted counts the requests that a context's library had posted to a core when it requested a control verb. The verb
// is carried out once the core has taken them, because doorbells and register writes may arrive later than the verb.
type Posted struct{ Sends, Recvs uint64 }

// deferred is a control verb that waits for what was posted before it.
type deferred struct {
	after Posted
	verb  func()
}

// hasTaken reports whether the core has taken as many sends and receives as p counts.
func (x *context) hasTaken(p Posted) bool {
	return x.taken.Sends >= p.Sends && x.taken.Recvs >= p.Recvs
}

// afterPosted carries out a verb once the core has taken the requests posted before it.
func (c *core) afterPosted(context int, p Posted, verb func()) {
	c.drainPipes(context)
	x := c.contexts[context]
	if x == nil || len(x.deferred) == 0 && x.hasTaken(p) {
		verb()
		return
	}
	x.deferred = append(x.deferred, deferred{p, verb})
}

// runDeferred carries out the deferred verbs whose requests have been taken.
func (x *context) runDeferred() {
	for len(x.deferred) > 0 && x.hasTaken(x.deferred[0].after) {
		verb := x.deferred[0].verb
		x.deferred = x.deferred[1:]
		verb()
	}
}
