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

// engine is a core of the offload engine: its own queue of DMAs, and its memory.
type engine struct {
	*offload.Engine
	n      *Node
	cpu    *cpu.Core
	loop   *cpu.Loop
	dma    *copyengine.Engine
	memory memory
	on     data.Engine
	err    error
}

// Sizes of an engine's memory: for handlers, and for requests, each at most an MTU long.
const (
	handlerBytes = 1 << 20
	requestBytes = 2 << 20
)

// openEngines creates the cores of the offload engine.
func (n *Node) openEngines() error {
	for i := range n.cfg.Engines {
		if err := n.openEngine(i); err != nil {
			return fmt.Errorf("engine core %d of %d: %w", i, len(n.cfg.Engines), err)
		}
	}
	return nil
}

// openEngine creates core i of the offload engine with its memory, its queue of DMAs and its loop.
func (n *Node) openEngine(i int) error {
	on := n.cfg.Engines[i]
	e := &engine{n: n, cpu: on.Core()}
	var err error
	if e.memory, err = n.block(nicspec.EndpointArm, n.engineKey(i), handlerBytes+requestBytes); err != nil {
		return err
	}
	at, err := e.memory.Alloc(handlerBytes, nicspec.LineBytes)
	if err != nil {
		return err
	}
	e.memory.Mark(at, handlerBytes, driver.UsePayload)
	if e.Engine, err = offload.New(n.cfg.Spec.Offload, e, at, handlerBytes); err != nil {
		return err
	}
	e.on = data.Engine{Key: e.memory.key, Take: func(qpn uint32, addr uint64, n int, done func()) bool {
		return e.Take(offload.Request{QP: qpn, Addr: addr, N: n, Done: done})
	}}
	if e.loop, err = e.cpu.Add(cpu.LoopSpec{Name: "offload engine", Poll: n.cfg.Spec.Offload.Poll, As: cpu.Handlers},
		func(*cpu.Core) bool { return e.step() }); err != nil {
		return err
	}
	e.dma, err = copyengine.Open(n.drv, driver.TxConfig{QueueConfig: driver.QueueConfig{
		Queue: n.engineQueue(i), LogSize: n.cfg.Spec.Data.LogCopy, Bus: on}}, e.memory.key)
	n.engines = append(n.engines, e)
	return err
}

// step runs a coroutine, and offers messages again that found no room.
func (e *engine) step() bool {
	if !e.Engine.Step() {
		return false
	}
	if e.Room() > 0 {
		e.n.data.Offer(&e.on)
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

// engineKey returns the number of the memory key of an engine core.
func (n *Node) engineKey(i int) int {
	if i == 0 {
		return firstEngineKey
	}
	return firstCoreKey + n.cfg.Spec.DataCores + i - 1
}

// engineQueue returns the transmit queue for the copies of an engine core.
func (n *Node) engineQueue(i int) int {
	if i == 0 {
		return n.txNumber(firstEngine)
	}
	return n.txNumber(otherProcesses + len(n.cfg.Hosts) - 1 + i - 1)
}

// engineOf returns the engine core that a queue pair's messages go to: the cores take turns, in the order in which the
// node hears of the queue pairs. It returns nil if there is no engine.
func (n *Node) engineOf(qpn uint32) *engine {
	if len(n.engines) == 0 {
		return nil
	}
	i, ok := n.served[qpn]
	if !ok {
		i = len(n.served) % len(n.engines)
		n.served[qpn] = i
	}
	return n.engines[i]
}

// Engine returns the engine whose handlers take the messages of a queue pair, or nil if the node has none.
func (n *Node) Engine(qp verbs.QP) *offload.Engine {
	if e := n.engineOf(qp.Num()); e != nil {
		return e.Engine
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
	e := n.engineOf(qp.Num())
	if e == nil {
		done(errors.New("node: serve: no offload engine: want Config.Engines"))
		return
	}
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
	n.data.Serve(qp.Num(), &e.on, at, bytes, done)
}

// Expose lets the engine's DMAs reach the host memory of a region.
func (n *Node) Expose(mr verbs.MR, qp verbs.QP) error {
	e := n.engineOf(qp.Num())
	if e == nil {
		return errors.New("node: expose: no offload engine: want Config.Engines")
	}
	k := n.data.Key(mr.LKey)
	if k == nil {
		return fmt.Errorf("node: expose: key %#x: no such region", mr.LKey)
	}
	e.dma.Add(k)
	return e.RegisterRegion(qp.Num(), mr.Addr, mr.Length)
}
