package offload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
)

// Env is the environment of an engine: memory, DMA, and the stack that sends.
type Env interface {
	// Copy moves bytes between Arm and host memory by DMA. done is called exactly once, after Copy has returned.
	Copy(to, from uint64, n int, done func(error))
	// Load and Store are the core's own accesses to Arm memory.
	Load(addr uint64, b []byte) error
	Store(addr uint64, b []byte) error
	// Compute charges the core the given number of cycles.
	Compute(cycles int64)
	// Respond sends n bytes of Arm memory on a queue pair. done is called exactly once, when the bytes may be
	// overwritten.
	Respond(qp uint32, addr uint64, n int, done func(error))
	// Wake requests a call of Step.
	Wake()
}

// Handler serves a request. The client gets its error as a status.
type Handler func(c *Context) error

// Request is a message to the engine, in Arm memory.
type Request struct {
	QP   uint32
	Addr uint64
	N    int
	Done func() // called when the request's memory may be reused
}

// Status is the result of a request, as the client reads it.
type Status uint16

// Statuses of a response.
const (
	OK           Status = iota
	Unknown             // no handler for this code on this queue pair
	Malformed           // shorter than a request
	Failed              // the handler returned an error
	Misbehaved          // the handler was stopped
	NoMemory            // no memory for a response
	headerLength = 8
)

// Fault reports a handler that was stopped, or that returned without a response or with DMAs in flight.
type Fault struct {
	Code   uint16
	QP     uint32
	Number uint32 // the client's number of the request
	What   string
}

func (f *Fault) Error() string {
	return fmt.Sprintf("offload: handler of code %#x, queue pair %#x, request %d: %s", f.Code, f.QP, f.Number, f.What)
}

// key identifies a registered handler.
type key struct {
	qp   uint32
	code uint16
}

// region is host memory that the handlers of a queue pair may use.
type region struct{ from, bytes uint64 }

// Engine runs the handlers on one core. Its caller calls Step.
type Engine struct {
	spec     Spec
	env      Env
	handlers map[key]Handler
	regions  map[uint32][]region
	memory   *driver.Arena // Arm memory of handlers
	queue    fifo.Queue[Request]
	running  int
	all      []*Context // contexts of requests whose memory is not free yet
	ready    fifo.Queue[*Context]
	faults   []Fault
	lost     uint64 // number of faults beyond those kept
	stats    Stats
}

// Stats are counters since the engine was created.
type Stats struct {
	Requests, Responses, DMAs, DMABytes, Faults uint64
}

// keptFaults limits the faults kept for reports; all are counted.
const keptFaults = 256

// New returns an engine with n bytes of Arm memory at an address.
func New(s Spec, env Env, arm, n uint64) (*Engine, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("offload: %w", err)
	}
	if env == nil || n < uint64(s.Memory) {
		return nil, fmt.Errorf("offload: %d B of Arm memory: want %d or more, and an Env", n, s.Memory)
	}
	return &Engine{spec: s, env: env, handlers: map[key]Handler{}, regions: map[uint32][]region{},
		memory: driver.NewArena(arm, n)}, nil
}

// RegisterOpcode registers the handler for requests with a code on a queue pair.
func (e *Engine) RegisterOpcode(code uint16, qp uint32, h Handler) error {
	if h == nil {
		return errors.New("offload: register_opcode: no handler")
	}
	if _, twice := e.handlers[key{qp, code}]; twice {
		return fmt.Errorf("offload: register_opcode: code %#x of queue pair %#x has a handler", code, qp)
	}
	e.handlers[key{qp, code}] = h
	return nil
}

// RegisterRegion lets handlers of a queue pair use n bytes of host memory.
func (e *Engine) RegisterRegion(qp uint32, host, n uint64) error {
	if n == 0 || host+n < host {
		return fmt.Errorf("offload: register_dma_region: %#x B at %#x: want 1 B or more, and an end below 2^64", n,
			host)
	}
	e.regions[qp] = append(e.regions[qp], region{host, n})
	return nil
}

// Room returns the number of requests that can be accepted now; senders of further ones must wait.
func (e *Engine) Room() int { return e.spec.Queue - e.queue.Len() }

// Take accepts a request; it returns false if there is no room.
func (e *Engine) Take(r Request) bool {
	if e.Room() == 0 {
		return false
	}
	e.stats.Requests++
	e.queue.Push(r)
	e.env.Wake()
	return true
}

// Step resumes a coroutine, or starts one for the next request; it returns false if there is nothing to do.
func (e *Engine) Step() bool {
	if e.ready.Len() > 0 {
		c := e.ready.Pop()
		e.env.Compute(e.spec.Switch)
		c.resume()
		return true
	}
	if e.queue.Len() > 0 && e.running < e.spec.Coroutines {
		e.start(e.queue.Pop())
		return true
	}
	return false
}

// Idle reports whether nothing is in progress.
func (e *Engine) Idle() bool { return e.queue.Len() == 0 && e.running == 0 }

// Stats returns the counters.
func (e *Engine) Stats() Stats { return e.stats }

// Faults returns the handlers that misbehaved, oldest first, and the number of further ones.
func (e *Engine) Faults() ([]Fault, uint64) { return e.faults, e.lost }

// Close ends waiting handlers; their clients get no response.
func (e *Engine) Close() {
	for _, c := range e.all {
		c.cancel()
	}
}

func (e *Engine) remove(c *Context) {
	i := slices.Index(e.all, c)
	e.all = slices.Delete(e.all, i, i+1)
}

func (e *Engine) fault(c *Context, what string) {
	e.stats.Faults++
	if len(e.faults) == keptFaults {
		e.lost++
		return
	}
	e.faults = append(e.faults, Fault{c.code, c.request.QP, c.number, what})
}

// start parses a request and runs its handler until it waits or ends.
func (e *Engine) start(r Request) {
	e.env.Compute(e.spec.Start)
	c := &Context{e: e, request: r, budget: e.spec.Budget}
	e.running++
	e.all = append(e.all, c)
	n := min(r.N, headerLength)
	if err := e.env.Load(r.Addr, c.head[:n]); err != nil || r.N < headerLength {
		c.finish(Malformed)
		return
	}
	c.code, c.number = binary.LittleEndian.Uint16(c.head[:]), binary.LittleEndian.Uint32(c.head[4:])
	h := e.handlers[key{r.QP, c.code}]
	if h == nil {
		c.finish(Unknown)
		return
	}
	c.run(h)
}
