package offload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
)

// Op is the direction of a DMA.
type Op uint8

// Directions of a DMA.
const (
	FromHost Op = iota
	ToHost
)

// Context is a request in progress, for its handler.
type Context struct {
	e       *Engine
	request Request
	head    [headerLength]byte
	code    uint16
	number  uint32
	budget  int64 // cycles that the handler may still use

	next func() (struct{}, bool)
	stop func()
	wait func(struct{}) bool

	resp    uint64 // address of the response memory, header included; 0: none
	bytes   int    // length of the response memory without the header
	sent    int    // bytes submitted; -1: not submitted
	spare   []block
	used    int
	dmas    []dma
	pending int // number of DMAs in flight; a response being sent counts as one
	awaited int // number of the DMA that the handler waits for; -1: none
	ended   bool
	fail    string // why the engine stopped the handler
	err     error  // error that the handler returned
}

// block is a piece of Arm memory that a handler has allocated.
type block struct{ at, n uint64 }

// dma is the state of a submitted DMA.
type dma struct {
	done bool
	err  error
}

// stopped is the panic value that unwinds the stack of a stopped handler.
type stopped struct{}

// run starts the coroutine of a handler.
func (c *Context) run(h Handler) {
	c.sent, c.awaited = -1, -1
	c.next, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.wait = yield
		defer func() {
			if p := recover(); p != nil {
				if _, mine := p.(stopped); !mine {
					c.fail = fmt.Sprintf("panics: %v", p)
				}
			}
		}()
		c.err = h(c)
	})
	c.resume()
}

// resume runs the handler until it waits or ends.
func (c *Context) resume() {
	if _, waits := c.next(); !waits {
		c.end()
	}
}

// cancel ends a waiting handler.
func (c *Context) cancel() {
	if c.stop != nil {
		c.stop()
	}
}

// halt stops the handler; halt does not return.
func (c *Context) halt(format string, a ...any) {
	c.fail = fmt.Sprintf(format, a...)
	panic(stopped{})
}

// spend charges cycles against the budget.
func (c *Context) spend(cycles int64) {
	if cycles < 0 {
		c.halt("computes %d cycles: want 0 or more", cycles)
	}
	c.e.env.Compute(cycles)
	if c.budget -= cycles; c.budget < 0 {
		c.halt("has used up its %d cycles", c.e.spec.Budget)
	}
}

// Compute charges a handler's own work.
func (c *Context) Compute(cycles int64) { c.spend(max(cycles, 0)) }

// QP returns the queue pair on which the request arrived.
func (c *Context) QP() uint32 { return c.request.QP }

// Args returns the address and length of the request's arguments in Arm memory.
func (c *Context) Args() (addr uint64, n int) {
	return c.request.Addr + headerLength, c.request.N - headerLength
}

// Load reads Arm memory of the handler: its arguments, its response, or its allocations.
func (c *Context) Load(addr uint64, b []byte) {
	c.spend(c.e.spec.Call)
	if !c.owns(addr, len(b), true) {
		c.halt("loads %d B at %#x, which is not its memory", len(b), addr)
	}
	c.check(c.e.env.Load(addr, b))
}

// Store writes Arm memory of the handler, except the arguments.
func (c *Context) Store(addr uint64, b []byte) {
	c.spend(c.e.spec.Call)
	if !c.owns(addr, len(b), false) {
		c.halt("stores %d B at %#x, which is not its memory", len(b), addr)
	}
	c.check(c.e.env.Store(addr, b))
}

func (c *Context) check(err error) {
	if err != nil {
		c.halt("%v", err)
	}
}

// owns reports whether n bytes at an address belong to the handler.
func (c *Context) owns(addr uint64, n int, args bool) bool {
	in := func(from, bytes uint64) bool {
		return addr >= from && uint64(n) <= bytes && addr-from <= bytes-uint64(n)
	}
	if args && in(c.request.Addr, uint64(c.request.N)) || c.resp != 0 && in(c.resp+headerLength, uint64(c.bytes)) {
		return true
	}
	for _, b := range c.spare {
		if in(b.at, b.n) {
			return true
		}
	}
	return false
}

// Alloc allocates Arm memory for the handler, until it ends.
func (c *Context) Alloc(n int) uint64 {
	c.spend(c.e.spec.Call)
	at := c.alloc(n)
	c.spare = append(c.spare, block{at, uint64(n)})
	return at
}

const lineBytes = 64

func (c *Context) alloc(n int) uint64 {
	if n < 1 || c.used+n > c.e.spec.Memory {
		c.halt("asks for %d B: want 1 to %d more", n, c.e.spec.Memory-c.used)
	}
	at, err := c.e.memory.Alloc(uint64(n), lineBytes)
	if err != nil {
		c.halt("asks for %d B: %v", n, err)
	}
	c.used += n
	return at
}

// AllocResp allocates memory for a response of n bytes (alloc_resp).
func (c *Context) AllocResp(n int) uint64 {
	c.spend(c.e.spec.Call)
	if c.resp != 0 {
		c.halt("allocates a second response")
	}
	c.resp = c.alloc(n + headerLength)
	c.bytes = n
	return c.resp + headerLength
}

// SubmitDMA starts copying n bytes between host and Arm memory, and returns the DMA's number (submit_dma).
func (c *Context) SubmitDMA(op Op, host, arm uint64, n int) (id int) {
	c.spend(c.e.spec.Call)
	switch {
	case n < 1:
		c.halt("submits a DMA of %d B: want 1 or more", n)
	case !c.owns(arm, n, op == ToHost):
		c.halt("submits a DMA of %d B at Arm address %#x, which is not its memory", n, arm)
	case !c.e.allowed(c.request.QP, host, n):
		c.halt("submits a DMA of %d B at host address %#x: want bytes of a region that its queue pair has", n, host)
	case c.pending == c.e.spec.DMAs:
		c.halt("has %d DMAs in flight: want it to wait for some first", c.pending)
	}
	id = len(c.dmas)
	c.dmas = append(c.dmas, dma{})
	c.pending++
	c.e.stats.DMAs++
	c.e.stats.DMABytes += uint64(n)
	to, from := arm, host
	if op == ToHost {
		to, from = host, arm
	}
	c.e.env.Copy(to, from, n, func(err error) { c.copied(id, err) })
	return id
}

// allowed reports whether a queue pair's handlers may use host memory.
func (e *Engine) allowed(qp uint32, host uint64, n int) bool {
	for _, r := range e.regions[qp] {
		if host >= r.from && uint64(n) <= r.bytes && host-r.from <= r.bytes-uint64(n) {
			return true
		}
	}
	return false
}

// copied handles the end of a DMA, and makes the handler ready if it waits for this DMA.
func (c *Context) copied(id int, err error) {
	c.dmas[id] = dma{true, err}
	c.pending--
	switch {
	case c.ended:
		if c.pending == 0 {
			c.release()
		}
	case c.awaited == id:
		c.awaited = -1
		c.e.ready.Push(c)
		c.e.env.Wake()
	}
}

// WaitDMA waits for a DMA and returns its error (wait_dma_finish). Other coroutines run meanwhile.
func (c *Context) WaitDMA(id int) error {
	c.spend(c.e.spec.Call)
	if id < 0 || id >= len(c.dmas) {
		c.halt("waits for DMA %d: want one of the %d that it submitted", id, len(c.dmas))
	}
	if !c.dmas[id].done {
		c.awaited = id
		if !c.wait(struct{}{}) {
			panic(stopped{})
		}
	}
	return c.dmas[id].err
}

// SubmitResp sends n bytes of the response (submit_resp). It leaves when the handler returns.
func (c *Context) SubmitResp(addr uint64, n int) {
	c.spend(c.e.spec.Call)
	switch {
	case c.resp == 0 || addr != c.resp+headerLength:
		c.halt("submits a response at %#x, which it did not allocate for a response", addr)
	case n < 0 || n > c.bytes:
		c.halt("submits a response of %d B: want %d at most", n, c.bytes)
	case c.sent >= 0:
		c.halt("submits a second response")
	}
	c.sent = n
}

// errNone is the fault of a handler that returns without a response.
var errNone = errors.New("returns without a response")

// end answers the request of a handler that has returned. It is a fault to return without a response, or with DMAs in
// flight.
func (c *Context) end() {
	switch {
	case c.fail != "":
	case c.pending > 0:
		c.fail = fmt.Sprintf("returns with %d DMAs in flight", c.pending)
	case c.err == nil && c.sent < 0:
		c.fail = errNone.Error()
	}
	switch {
	case c.fail != "":
		c.e.fault(c, c.fail)
		c.finish(Misbehaved)
	case c.err != nil:
		c.finish(Failed)
	default:
		c.finish(OK)
	}
}

// finish sends the response, and frees the request's memory once neither the response nor a DMA uses it.
func (c *Context) finish(s Status) {
	n := 0
	if s == OK {
		n = c.sent
	}
	c.ended = true
	e := c.e
	if c.resp == 0 {
		at, err := e.memory.Alloc(headerLength, lineBytes)
		if err != nil {
			e.fault(c, "no memory for its response: "+err.Error())
			c.answered(err)
			return
		}
		c.resp = at
	}
	var b [headerLength]byte
	binary.LittleEndian.PutUint16(b[:], c.code)
	binary.LittleEndian.PutUint16(b[2:], uint16(s))
	binary.LittleEndian.PutUint32(b[4:], c.number)
	if err := e.env.Store(c.resp, b[:]); err != nil {
		e.fault(c, err.Error())
	}
	c.pending++ // counted like a DMA until the response has been sent
	e.stats.Responses++
	e.env.Respond(c.request.QP, c.resp, headerLength+n, func(err error) {
		c.pending--
		c.answered(err)
	})
}

func (c *Context) answered(err error) {
	if err != nil {
		c.e.fault(c, "its response was not sent: "+err.Error())
	}
	if c.pending == 0 {
		c.release()
	}
}

// release frees all memory of the request.
func (c *Context) release() {
	e := c.e
	if c.resp != 0 {
		_ = e.memory.Free(c.resp) // cannot fail: Alloc returned this address
	}
	for _, b := range c.spare {
		_ = e.memory.Free(b.at)
	}
	c.resp, c.spare = 0, nil
	e.running--
	e.remove(c)
	if c.request.Done != nil {
		c.request.Done()
	}
	e.env.Wake()
}

// DMAs returns the most DMAs that a handler may have in flight.
func (c *Context) DMAs() int { return c.e.spec.DMAs }
