package device

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
	"nictwin/stack/ceio/manager"
	"nictwin/stack/driver"
)

// Ps is a time in picoseconds.
type Ps = manager.Ps

// Config configures the flows of one NIC.
type Config struct {
	Driver *driver.Driver
	Spec   manager.Spec

	// After calls f later, as software of a flow's core: at the earliest after 64 cycles of the NIC, and never before
	// it returns.
	After func(flow int, f func())

	// Steer writes a rule; nil: Driver writes it. With controller `arm`, it is set: the driver of the card's core
	// writes rules.
	Steer func(index int, r driver.Rule) error
}

// Device holds the flows of one NIC.
type Device struct {
	c     Config
	m     *manager.Manager
	flows map[int]*Flow
	err   error
}

// New returns a device without flows.
func New(c Config) (*Device, error) {
	if c.Driver == nil || c.After == nil {
		return nil, errors.New("ceio: want a driver, and After")
	}
	d := &Device{c: c, flows: map[int]*Flow{}}
	if d.c.Steer == nil {
		d.c.Steer = c.Driver.SetRule
	}
	var err error
	d.m, err = manager.New(c.Spec, (*nic)(d))
	return d, err
}

// Manager returns the manager, for its statistics and timers.
func (d *Device) Manager() *manager.Manager { return d.m }

// Err returns the first error, or nil.
func (d *Device) Err() error { return errors.Join(d.err, d.m.Err()) }

// Check ends the device's work with an error of its caller, unless it is nil.
func (d *Device) Check(err error) { d.check(err) }

func (d *Device) check(err error) {
	if d.err == nil && err != nil {
		d.err = err
	}
}

// nic is the device as its manager sees it.
type nic Device

var _ manager.NIC = (*nic)(nil)

// AddCredit implements manager.NIC. The descriptors for the credits are announced before.
func (n *nic) AddCredit(flow, credits int) {
	f := n.flows[flow]
	(*Device)(n).check(f.ensure())
	(*Device)(n).check(n.c.Driver.AddCreditBy(f.c.Bus, f.c.Account, credits))
}

func (n *nic) TakeCredit(flow, credits int) {
	f := n.flows[flow]
	(*Device)(n).check(n.c.Driver.TakeCreditBy(f.c.Bus, f.c.Account, credits))
}

// Resume implements manager.NIC. The descriptors for the credits are announced before.
func (n *nic) Resume(flow, credits int) {
	f := n.flows[flow]
	(*Device)(n).check(f.ensure())
	(*Device)(n).check(n.c.Driver.ResumeAccountBy(f.c.Bus, f.c.Account, credits))
}

// ReadAccount implements manager.NIC. The register read proves that the writes before it have been accepted.
func (n *nic) ReadAccount(flow int) {
	d, f := (*Device)(n), n.flows[flow]
	f.c.Bus.ReadReg(nicspec.RegAccountCredit(f.c.Account), 4, func(_ uint64, err error) {
		if d.check(err); err != nil {
			return
		}
		d.c.After(flow, func() {
			d.check(d.c.Driver.ReadAccount(f.c.Account, func(a nicspec.AccountEntryFields) {
				d.m.AccountRead(flow, manager.Account{Drawn: a.Drawn, Seq: a.Seq, Slow: a.Slow != 0})
			}))
		})
	})
}

// Steer implements manager.NIC. The account has no credits: it only numbers the frames, which all go to its slow queue,
// and that is the flow's fast or slow ring.
func (n *nic) Steer(flow int, fast bool) {
	f := n.flows[flow]
	if fast {
		(*Device)(n).check(f.ensure())
	}
	(*Device)(n).check(n.c.Steer(f.c.Rule, f.rule(fast)))
}

func (n *nic) Room(flow, packets int) int {
	_, room := n.flows[flow].landing.fit(packets)
	return room
}

func (n *nic) Copy(flow int, first uint64, packets int) {
	(*Device)(n).check(n.flows[flow].copy(first, packets))
}

// Copier is a transmit queue for the copies of the flows of one core.
type Copier struct {
	d     *Device
	queue *driver.TxQueue
	ends  fifo.Queue[*Flow] // by work entry: the flow whose copy ends with it; nil: the copy has another one
	flows int               // flows that use the queue
	entry driver.Copy
	now   Ps
	taken bool // Poll has taken completion entries
}

// post posts a work entry of a copy from the card to the host. The last one of a copy requests a completion entry,
// which reports the end of those before, too [T1].
func (k *Copier) post(f *Flow, from, to uint64, n int, last bool) error {
	k.entry = driver.Copy{Order: driver.Order{Complete: last},
		Src: driver.Span{Key: f.key, Off: from - f.key.Bus, Len: uint32(n)},
		Dst: driver.Span{Key: f.c.Host, Off: to - f.c.Host.Bus, Len: uint32(n)}}
	if !last {
		f = nil
	}
	k.ends.Push(f)
	return k.queue.Post(&k.entry)
}

// OpenCopier opens a transmit queue of 2^log copies, through the bus of a core.
func (d *Device) OpenCopier(queue, log int, bus driver.Bus) (*Copier, error) {
	k := &Copier{d: d}
	var err error
	k.queue, err = d.c.Driver.OpenTx(driver.TxConfig{
		PushBlocks: 1, // a copy that waits alone reaches the NIC without a fetch
		QueueConfig: driver.QueueConfig{Queue: queue, LogSize: log, RingIn: nicspec.EndpointHost,
			DoneIn: nicspec.EndpointHost, Notice: driver.NoticePoll, Bus: bus},
		OnEnd: k.ended,
		OnEvent: func(_ *driver.TxQueue, e driver.Event) {
			d.check(fmt.Errorf("ceio: transmit queue %d failed with status %v", queue, e.Status))
		},
	})
	return k, err
}

// Ring returns the placement of the queue's rings, for a watch.
func (k *Copier) Ring() driver.Layout { return k.queue.Layout() }

// Poll takes the completion entries of copies, and reports whether there were any.
func (k *Copier) Poll(now Ps) bool {
	k.now, k.taken = now, false
	k.queue.Poll()
	k.Flush()
	return k.taken
}

// Flush announces the copies that have been started.
func (k *Copier) Flush() {
	if k.queue.Waiting() > 0 {
		k.d.check(k.queue.Ring())
	}
}

func (k *Copier) ended(_ *driver.TxQueue, e *driver.TxEnd) {
	k.taken = true
	if s := e.Cqe.Status(); s != nicspec.StatusOk {
		k.d.check(fmt.Errorf("ceio: transmit queue %d: a copy ended with status %v", k.queue.Number(), s))
		return
	}
	for range e.N {
		if f := k.ends.Pop(); f != nil {
			f.copied(k.now)
		}
	}
}
