package dsa

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/field"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/pace"
	"nictwin/models/sim/simcore"
)

// RecordBytes is the length of a completion record; its first byte is the result of the copy.
const RecordBytes = 32

// Values of the first byte of a completion record.
const (
	RecordOK     = 1
	RecordFailed = 2
)

// ErrFull reports that the queue has no room: try again later.
var ErrFull = errors.New("dsa: the queue is full")

// Copy is a descriptor. The initiator owns it, and may reuse it after Done.
type Copy struct {
	Src, Dst uint64 // source and destination addresses; the ranges must not overlap
	N        int
	Record   uint64      // address of the completion record, a multiple of 32; 0: none
	Err      error       // set before Done is called
	Done     func(*Copy) // nil: only the completion record reports the end
}

// Builder makes an Engine.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Memory    mem.Target
}

// Build makes the component. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*Engine, error) {
	if err := errors.Join(field.Need(b.Scheduler != nil, "scheduler"), field.Need(b.Memory != nil, "memory"),
		b.Spec.Validate()); err != nil {
		return nil, fmt.Errorf("dsa: %s: %w", name, err)
	}
	return &Engine{Portless: simcore.NewPortless(name), spec: b.Spec, sched: b.Scheduler, memory: b.Memory,
		pace: pace.Pacer{Rate: b.Spec.Rate}}, nil
}

// Engine copies memory. See the package comment.
type Engine struct {
	simcore.Portless

	spec   Spec
	sched  simcore.Scheduler
	memory mem.Target
	pace   pace.Pacer
	queue  fifo.Queue[*Copy]
	jobs   []*job // descriptors in progress
	idle   fifo.Free[job]
	chunks fifo.Free[chunk]
	events simcore.EventPool
	onRoom []func() // called when the queue stops being full
	stats  Stats
	err    error
}

// Err returns the first error of the write of a completion record, or nil. Software waits for such a record for ever.
func (e *Engine) Err() error { return e.err }

// Stats counts what an engine did.
type Stats struct {
	Submitted, Ended uint64 // number of descriptors
	Read, Written    uint64 // bytes whose read, or write, has ended
	Held             uint64 // bytes read and not written yet
}

// job is a descriptor in progress.
type job struct {
	c          *Copy
	requested  int  // bytes requested so far
	inFlight   int  // number of chunks in flight
	requesting bool // request is executing for the job: do not call it again
	record     mem.Access
	bytes      [RecordBytes]byte
}

// chunk is a piece of a copy: a read, then a write.
type chunk struct {
	mem.Access
	j   *job
	at  int
	buf []byte
}

// Stats returns the counters so far.
func (e *Engine) Stats() Stats { return e.stats }

// Idle reports whether the engine has nothing to do.
func (e *Engine) Idle() bool { return len(e.jobs) == 0 && e.queue.Len() == 0 }

// Submit queues a descriptor, or returns the reason why it cannot.
func (e *Engine) Submit(c *Copy) error {
	if err := e.check(c); err != nil {
		return err
	}
	if e.queue.Len() == e.spec.Queue {
		return ErrFull
	}
	c.Err = nil
	e.stats.Submitted++
	e.queue.Push(c)
	e.begin()
	return nil
}

func (e *Engine) check(c *Copy) error {
	switch {
	case c.N < 1:
		return fmt.Errorf("dsa: %s: copy of %d B: want 1 B or more", e.Name(), c.N)
	case c.Dst < c.Src+uint64(c.N) && c.Src < c.Dst+uint64(c.N):
		return fmt.Errorf("dsa: %s: copy of %d B from %#x to %#x: want ranges that do not overlap", e.Name(), c.N,
			c.Src, c.Dst)
	case c.Record%RecordBytes != 0:
		return fmt.Errorf("dsa: %s: completion record at %#x: want a multiple of %d", e.Name(), c.Record, RecordBytes)
	}
	if err := e.memory.Check(mem.Read, c.Src, c.N); err != nil {
		return err
	}
	if err := e.memory.Check(mem.Write, c.Dst, c.N); err != nil || c.Record == 0 {
		return err
	}
	return e.memory.Check(mem.Write, c.Record, RecordBytes)
}

// begin assigns queued descriptors to idle engines.
func (e *Engine) begin() {
	for e.queue.Len() > 0 && len(e.jobs) < e.spec.Engines {
		j, fresh := e.idle.Get()
		if fresh {
			j.record.Op, j.record.Data = mem.Write, j.bytes[:]
			j.record.Done = func(*mem.Access) { e.end(j) }
		}
		j.c, j.requested, j.inFlight = e.queue.Pop(), 0, 0
		e.jobs = append(e.jobs, j)
		e.at(simcore.Now(e.sched)+e.spec.Latency, j)
	}
}

// at schedules Handle for a job or a chunk.
func (e *Engine) at(t simcore.Ps, arg any) {
	ev := e.events.Get()
	ev.At, ev.H, ev.Arg = t, e, arg
	e.sched.Schedule(ev)
}

// Handle implements sim.Handler: a job begins, or a chunk may be written.
func (e *Engine) Handle(evt sim.Event) error {
	ev, ok := evt.(*simcore.Event)
	if !ok {
		return fmt.Errorf("dsa: %s: event of type %T: want its own", e.Name(), evt)
	}
	arg := ev.Arg
	e.events.Put(ev)
	switch x := arg.(type) {
	case *job:
		e.request(x)
	case *chunk:
		x.Op, x.Addr = mem.Write, x.j.c.Dst+uint64(x.at)
		e.memory.Access(&x.Access)
	}
	return nil
}

// request requests a job's next chunks, or ends the job.
func (e *Engine) request(j *job) {
	if j.requesting {
		return
	}
	j.requesting = true
	for j.inFlight < e.spec.Ahead && j.requested < j.c.N && j.c.Err == nil {
		x, fresh := e.chunks.Get()
		if fresh {
			x.buf = make([]byte, e.spec.Chunk)
			x.Done = func(*mem.Access) { e.moved(x) }
		}
		n := min(e.spec.Chunk, j.c.N-j.requested)
		x.j, x.at, x.Op, x.Addr, x.Data, x.Err = j, j.requested, mem.Read, j.c.Src+uint64(j.requested), x.buf[:n], nil
		j.inFlight++
		j.requested += n
		e.memory.Access(&x.Access)
	}
	j.requesting = false
	if j.inFlight == 0 {
		e.writeRecord(j)
	}
}

// moved handles the end of a chunk's read or write.
func (e *Engine) moved(x *chunk) {
	n := uint64(len(x.Data))
	if x.Err == nil && x.Op == mem.Read {
		e.stats.Read += n
		e.stats.Held += n
		e.at(e.pace.Take(simcore.Now(e.sched), len(x.Data)), x)
		return
	}
	j := x.j
	if x.Op == mem.Write {
		e.stats.Held -= n
	}
	if x.Err == nil {
		e.stats.Written += n
	} else if j.c.Err == nil {
		j.c.Err = fmt.Errorf("dsa: %s: %v of %d B at %#x: %w", e.Name(), x.Op, n, x.Addr, x.Err)
	}
	j.inFlight--
	x.j = nil
	e.chunks.Put(x)
	e.request(j)
}

// writeRecord writes the completion record.
func (e *Engine) writeRecord(j *job) {
	if j.c.Record == 0 {
		e.end(j)
		return
	}
	j.bytes[0] = RecordOK
	if j.c.Err != nil {
		j.bytes[0] = RecordFailed
	}
	j.record.Addr, j.record.Err = j.c.Record, nil
	e.memory.Access(&j.record)
}

// end frees the engine that a job occupied.
func (e *Engine) end(j *job) {
	c := j.c
	if j.record.Err != nil && e.err == nil { // software would wait for the record for ever
		e.err = fmt.Errorf("dsa: %s: completion record at %#x: %w", e.Name(), c.Record, j.record.Err)
	}
	if c.Err == nil {
		c.Err = j.record.Err
	}
	j.c, j.record.Err = nil, nil
	i := slices.Index(e.jobs, j)
	e.jobs = slices.Delete(e.jobs, i, i+1)
	e.idle.Put(j)
	e.stats.Ended++
	if c.Done != nil {
		c.Done(c)
	}
	full := e.queue.Len() == e.spec.Queue
	e.begin()
	if full && e.queue.Len() < e.spec.Queue {
		for _, f := range e.onRoom {
			f()
		}
	}
}

var _ sim.Component = (*Engine)(nil)
