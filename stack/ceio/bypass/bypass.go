package bypass

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/field"
	"nictwin/stack/rnicverbs"
	"nictwin/stack/rnicverbs/provider"
)

// Spec holds the parameters of a controller.
type Spec struct {
	Flows   int `yaml:"flows"`   // queue pairs with an account; 0: none has one
	Credits int `yaml:"credits"` // of all flows
	Batch   int `yaml:"batch"`   // messages after which credits return

	// LogSlots is log2 of the packets of a flow that the memory of the card has room for.
	LogSlots int `yaml:"log_slots"`

	// MarkAt is the number of waiting slow packets from which on others count as marked by the network, so that
	// congestion control slows down their sender; 0: never.
	MarkAt int `yaml:"mark_at"`
}

// SlotBytes is the room for a packet: the largest path MTU.
const SlotBytes = 4096

// DefaultSpec returns a controller without flows, the paper's credits and a batch as in stack/ceio/manager.
func DefaultSpec() Spec { return Spec{Credits: 3000, Batch: 32, LogSlots: 10} }

// Validate returns every error of the spec, by field.
func (s *Spec) Validate() error {
	errs := []error{
		field.Within("flows", s.Flows, 0, rnicspec.MaxAccounts),
		field.Within("credits", s.Credits, 0, rnicspec.MaxCredits),
		field.Within("batch", s.Batch, 1, rnicspec.MaxCredits),
		field.Within("log_slots", s.LogSlots, 1, rnicspec.MaxLogRing),
		field.Within("mark_at", s.MarkAt, 0, 1<<rnicspec.MaxLogRing-1),
	}
	if s.Flows > 0 && s.Credits > 0 && s.Credits < s.Flows {
		errs = append(errs, field.Errorf("credits", "%d: %d flows have a share each: want that many or more, or 0 to "+
			"make every packet slow", s.Credits, s.Flows))
	}
	return errors.Join(append(errs, s.validateEffect())...)
}

// validateEffect refuses options without effect.
func (s *Spec) validateEffect() error {
	var errs []error
	d := DefaultSpec()
	for _, x := range []struct {
		path     field.Path
		v, usual int
	}{{"credits", s.Credits, d.Credits}, {"batch", s.Batch, d.Batch}, {"log_slots", s.LogSlots, d.LogSlots},
		{"mark_at", s.MarkAt, d.MarkAt}} {
		if s.Flows == 0 && x.v != x.usual {
			errs = append(errs, field.Errorf(x.path, "%d: no queue pair has an account, as %v is 0: want none, or "+
				"more there", x.v, field.Path("flows")))
		}
	}
	if most := 1<<min(max(s.LogSlots, 0), rnicspec.MaxLogRing) - 1; s.Flows > 0 && s.MarkAt > most {
		errs = append(errs, field.Errorf("mark_at", "%d: of a flow's %d slow packets (%v %d), none finds more than %d "+
			"others: want that or less", s.MarkAt, most+1, field.Path("log_slots"), s.LogSlots, most))
	}
	return errors.Join(errs...)
}

// SlowBytes returns the memory of the card that the flows take.
func (s *Spec) SlowBytes() uint64 { return uint64(s.Flows) << s.LogSlots * SlotBytes }

// Stats counts what a controller did.
type Stats struct {
	Exhausted uint64 // times that a flow ran out of credits
	Drains    uint64 // runs of copies
	Copies    uint64 // slow packets copied
	Resumes   uint64
}

// Controller gives credits to the queue pairs of a NIC.
type Controller struct {
	spec   Spec
	dev    *rnicverbs.Device
	slow   uint64
	events *rnicverbs.CQ
	flows  []*flow // by account
	byQP   map[uint32]*flow
	stats  Stats

	polling, again bool
	word           [4]byte
}

// flow is a queue pair with an account.
type flow struct {
	account  uint32
	qpn      uint32
	drawn    uint32 // credits drawn by the messages that applications have taken
	slow     uint32 // slow packets of these, and of earlier ones
	taken    uint32 // messages that applications have taken
	returned int    // credits of these that the account has not got back yet
	messages int    // messages taken since credits returned

	copied  uint32 // slow packets
	written uint32 // messages whose completion entries had been written at the last event
	wanted  bool   // something waits for slow packets
	blocked bool   // a READ, an atomic, or a packet without a free slot does
	copying bool   // a run of copies is in progress
}

// New returns a controller whose slow packets are kept at bus address `slow`.
func New(dev *rnicverbs.Device, s Spec, slow uint64) (*Controller, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("bypass: %w", err)
	}
	const log = 10 // two events of each account, and a few more
	cq, err := dev.NewCQ(log)
	if err != nil {
		return nil, err
	}
	c := &Controller{spec: s, dev: dev, slow: slow, events: cq, byQP: map[uint32]*flow{}}
	_, err = cq.Follow(c.read)
	return c, err
}

// Stats returns the counts so far.
func (c *Controller) Stats() Stats { return c.stats }

// Share returns the credits of a flow.
func (c *Controller) Share() int { return c.spec.Credits / max(c.spec.Flows, 1) }

// Open gives a connected queue pair an account. It fails if all are in use.
func (c *Controller) Open(qpn uint32, done func(error)) {
	n := uint32(0)
	for int(n) < len(c.flows) && c.flows[n] != nil {
		n++
	}
	if int(n) >= c.spec.Flows {
		done(fmt.Errorf("bypass: queue pair %d: all %d accounts are in use: want more flows", qpn, c.spec.Flows))
		return
	}
	if int(n) == len(c.flows) {
		c.flows = append(c.flows, nil)
	}
	f := &flow{account: n, qpn: qpn}
	c.flows[n], c.byQP[qpn] = f, f
	c.dev.Try(&rnicspec.SetAccount{
		Account: uint8(n), QPN: qpn, Credits: uint32(c.Share()), Latch: true, Log: uint8(c.spec.LogSlots),
		Slow: c.slow + uint64(n)<<c.spec.LogSlots*SlotBytes, SlotBytes: SlotBytes, Events: c.events.Num(),
		Mark: uint32(c.spec.MarkAt),
	}, func(_ uint32, err error) { done(err) })
}

// Close ends the account of a queue pair that was destroyed.
func (c *Controller) Close(qpn uint32) {
	if f := c.byQP[qpn]; f != nil {
		c.flows[f.account] = nil
		delete(c.byQP, qpn)
	}
}

// Processed records that an application took a message, and what a queue pair had drawn up to it.
func (c *Controller) Processed(qpn uint32, upTo provider.Drawn) {
	f := c.byQP[qpn]
	if f == nil {
		return
	}
	f.returned += int(upTo.Credits - f.drawn)
	f.drawn, f.slow = upTo.Credits, upTo.Slow
	f.taken++
	if f.messages++; f.messages >= c.spec.Batch && !f.slowly() {
		c.give(f, false)
	}
	c.drain(f)
}

// slowly reports whether slow packets of the flow are being copied or wait for that: credits return with its resume.
func (f *flow) slowly() bool { return f.wanted || f.copying }

// give returns credits to a flow.
func (c *Controller) give(f *flow, resume bool) {
	if n := f.returned; n > 0 || resume {
		f.returned, f.messages = 0, 0
		c.write(rnicspec.Account(f.account, rnicspec.AccountCredit),
			rnicspec.Credit{Credits: uint32(n), Resume: resume}.Word())
	}
}

func (c *Controller) write(reg, v uint32) {
	binary.LittleEndian.PutUint32(c.word[:], v)
	c.dev.Write(reg, c.word[:])
}

// read takes the events that have arrived.
func (c *Controller) read() {
	if c.again = c.polling; c.again {
		return
	}
	c.polling = true
	if err := c.events.Poll(c.event, c.polled); err != nil {
		c.polling = false
	}
}

func (c *Controller) polled(int) {
	if c.polling = false; c.again {
		c.read()
	}
}

// event handles an event of an account.
func (c *Controller) event(e *rnicspec.CQE) {
	f := c.byQP[e.QPN]
	switch {
	case f == nil: // the queue pair was destroyed
	case e.Opcode == rnicspec.EventSlow && !e.HasImm:
		c.stats.Exhausted++
	case e.Opcode == rnicspec.EventSlow || e.Opcode == rnicspec.EventBlocked:
		f.wanted, f.blocked, f.written = true, f.blocked || e.Opcode == rnicspec.EventBlocked, e.Written
		c.drain(f)
	case e.Opcode == rnicspec.EventDrained:
		c.stats.Copies += uint64(e.Imm)
		f.copied, f.written = f.copied+e.Imm, e.Written
		if f.copying, f.wanted = false, e.Bytes > 0; f.wanted {
			c.drain(f)
			return
		}
		f.blocked = false
		c.stats.Resumes++
		c.give(f, true)
	}
}

// runWithout is the length of a run of copies without credits: assumption.
const runWithout = 32

// drain makes the NIC copy a run of slow packets, if something waits for them and the run may begin.
func (c *Controller) drain(f *flow) {
	run := c.run(f)
	if !f.wanted || f.copying || run == 0 {
		return
	}
	f.copying, f.blocked = true, false
	c.stats.Drains++
	c.write(rnicspec.Account(f.account, rnicspec.AccountDrain), uint32(run))
}

// run returns the length of a flow's next run of copies; 0: none may begin. Copied packets fill the cache until
// applications have taken them, so they are no more than the share, and a run begins when there is room for half of
// it. If applications have taken all messages that are whole, the next one is longer than that. Peers do not wait for
// applications: what they have blocked is copied at once.
func (c *Controller) run(f *flow) int {
	share := c.Share()
	ahead := max(int(int32(f.copied-f.slow)), 0) // messages may be taken before the event of their copies arrives
	switch {
	case share == 0:
		return runWithout
	case f.blocked || int32(f.taken-f.written) >= 0:
		return share
	case 2*ahead > share:
		return 0
	}
	return share - ahead
}
