package node

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/stack/driver"
	"nictwin/stack/flexins/data"
	"nictwin/stack/offload"
	"nictwin/stack/pipe/copyengine"
	"nictwin/stack/verbs"
)

// engine is a core of the offload engine: its own queue of DMAs, and its part of the engine's memory.
type engine struct {
	*offload.Engine
	n      *Node
	cpu    *cpu.Core
	loop   *cpu.Loop
	dma    *copyengine.Engine
	memory *driver.Arena
	err    error
}

// pool is the offload engine as data cores see it: requests of all queue pairs go to whichever core has the most room
// (FN 3.5: one queue for all cores).
type pool struct {
	on   data.Engine
	key  *driver.Key // for the memory of all cores
	turn int         // core that is asked first
}

// Sizes of an engine's memory: for handlers, and for requests, each at most an MTU long.
const (
	handlerBytes = 1 << 20
	requestBytes = 2 << 20
)

// openEngines creates the cores of the offload engine.
func (n *Node) openEngines() error {
	if len(n.cfg.Engines) == 0 {
		return nil
	}
	m, err := n.block(nicspec.EndpointArm, firstEngineKey, uint64(len(n.cfg.Engines))*(handlerBytes+requestBytes))
	if err != nil {
		return err
	}
	n.pool = pool{key: m.key, on: data.Engine{Key: m.key, Take: n.take}}
	for i := range n.cfg.Engines {
		if err := n.openEngine(i, m); err != nil {
			return fmt.Errorf("engine core %d of %d: %w", i, len(n.cfg.Engines), err)
		}
	}
	return nil
}

// openEngine creates core i of the offload engine with its part of the engine's memory, its queue of DMAs and its loop.
func (n *Node) openEngine(i int, m memory) error {
	on := n.cfg.Engines[i]
	from, err := m.Alloc(handlerBytes+requestBytes, nicspec.LineBytes)
	if err != nil {
		return err
	}
	e := &engine{n: n, cpu: on.Core(), memory: n.drv.Within(from, handlerBytes+requestBytes)}
	at, err := e.memory.Alloc(handlerBytes, nicspec.LineBytes)
	if err != nil {
		return err
	}
	e.memory.Mark(at, handlerBytes, driver.UsePayload)
	if e.Engine, err = offload.New(n.cfg.Spec.Offload, e, at, handlerBytes); err != nil {
		return err
	}
	if e.loop, err = e.cpu.Add(cpu.LoopSpec{Name: "offload engine", Poll: n.cfg.Spec.Offload.Poll, As: cpu.Handlers},
		func(*cpu.Core) bool { return e.step() }); err != nil {
		return err
	}
	e.dma, err = copyengine.Open(n.drv, driver.TxConfig{QueueConfig: driver.QueueConfig{
		Queue: n.engineQueue(i), LogSize: n.cfg.Spec.Data.LogCopy, Bus: on}}, m.key)
	n.engines = append(n.engines, e)
	return err
}

// step runs a coroutine, and offers messages again that found no room.
func (e *engine) step() bool {
	if !e.Engine.Step() {
		return false
	}
	if e.Room() > 0 {
		e.n.data.Offer(&e.n.pool.on)
	}
	return true
}

// Copy implements offload.Env.
func (e *engine) Copy(to, from uint64, n int, done func(error)) { e.dma.Copy(to, from, n, done) }

// Load implements offload.Env.
func (e *engine) Load(addr uint64, b []byte) error { return e.cpu.Load(addr, b) }

// Store implements offload.Env.
func (e *engine) Store(addr uint64, b []byte) error { return e.cpu.Store(addr, b) }

// Compute implements offload.Env.
func (e *engine) Compute(cycles int64) { e.cpu.ComputeAs(cpu.Handlers, cycles) }

// Wake implements offload.Env.
func (e *engine) Wake() { e.loop.Wake() }

// Respond implements offload.Env. A data core sends the response, once the engine core's stores have taken effect.
func (e *engine) Respond(qp uint32, addr uint64, n int, done func(error)) {
	e.cpu.Fence()
	e.cpu.Call(func() {
		e.n.data.Send(qp, addr, n, func(err error) { e.cpu.Call(func() { done(err) }) })
	})
}

// engineQueue returns the transmit queue for the copies of an engine core.
func (n *Node) engineQueue(i int) int {
	if i == 0 {
		return n.txNumber(firstEngine)
	}
	return n.txNumber(otherProcesses + len(n.cfg.Hosts) - 1 + i - 1)
}

// take gives a request to the core with the most room, of several to the next one; it returns false if none has any.
func (n *Node) take(qpn uint32, addr uint64, bytes int, done func()) bool {
	most, at := 0, 0
	for i := range n.engines {
		k := (n.pool.turn + i) % len(n.engines)
		if room := n.engines[k].Room(); room > most {
			most, at = room, k
		}
	}
	n.pool.turn = at + 1
	return most > 0 && n.engines[at].Take(offload.Request{QP: qpn, Addr: addr, N: bytes, Done: done})
}

// RegisterOpcode registers the handler for requests with a code on a queue pair, on every core of the engine.
func (n *Node) RegisterOpcode(code uint16, qp verbs.QP, h offload.Handler) error {
	errs := []error{n.hasEngine("register_opcode")}
	for _, e := range n.engines {
		errs = append(errs, e.RegisterOpcode(code, qp.Num(), h))
	}
	return errors.Join(errs...)
}

// hasEngine returns an error if the node has no offload engine.
func (n *Node) hasEngine(what string) error {
	if len(n.engines) == 0 {
		return fmt.Errorf("node: %s: no offload engine: want Config.Engines", what)
	}
	return nil
}

// Engines returns the engine of each core.
func (n *Node) Engines() (all []*offload.Engine) {
	for _, e := range n.engines {
		all = append(all, e.Engine)
	}
	return all
}

// Serve gives a queue pair of the application to the engine. Messages sent to it are then requests, and the application
// must not post to it any more. The application keeps its memory regions; RegisterRegion selects what handlers may use.
// done is called as software of a data core.
func (n *Node) Serve(qp verbs.QP, buffers int, done func(error)) {
	if err := n.hasEngine("serve"); err != nil {
		done(err)
		return
	}
	e := n.engines[n.served%len(n.engines)] // whose memory has the buffers
	n.served++
	var at []uint64
	bytes := int(n.cfg.Spec.MTU)
	for range buffers {
		b, err := e.memory.Alloc(uint64(bytes), nicspec.LineBytes)
		if err != nil {
			done(fmt.Errorf("node: serve: %w", err))
			return
		}
		e.memory.Mark(b, uint64(bytes), driver.UsePayload)
		at = append(at, b)
	}
	n.data.Serve(qp.Num(), &n.pool.on, at, bytes, done)
}

// Expose lets the engine's DMAs reach the host memory of a region.
func (n *Node) Expose(mr verbs.MR, qp verbs.QP) error {
	if err := n.hasEngine("expose"); err != nil {
		return err
	}
	k := n.data.Key(mr.LKey)
	if k == nil {
		return fmt.Errorf("node: expose: key %#x: no such region", mr.LKey)
	}
	var errs []error
	for _, e := range n.engines {
		e.dma.Add(k)
		errs = append(errs, e.RegisterRegion(qp.Num(), mr.Addr, mr.Length))
	}
	return errors.Join(errs...)
}
