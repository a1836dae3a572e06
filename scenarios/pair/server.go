package pair

import (
	"errors"
	"math/bits"

	"nictwin/models/board"
	"nictwin/models/format/ether"
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/bed/testbed"
	"nictwin/stack/driver"
)

// server is one of the two servers, with its driver, referee and traffic.
type server struct {
	name  string
	opts  *Options
	cards *board.Server
	card  *board.Card
	drv   *driver.Driver
	judge *judge.Judge // the referee; nil: the server is not judged
	wire  [2]Tally     // frames that left the NIC, and frames that it received

	memory   uint64 // bus address of the senders' memory
	tx       []*sender
	entry    driver.Send
	first    int // index in Options.Frames of the first frame to send, different for each server
	posted   int
	ended    int // work entries that have ended
	received int
	ready    bool
	counted  bool
	over     bool
	failed   error
}

// sender is a transmit queue, with memory for the frames of its entries.
type sender struct {
	*driver.TxQueue
	at   uint64 // offset of the frames' memory under its key
	next int
	span [1]driver.Span
}

const (
	queues    = 16 // number of queues in each direction
	ringLog   = 6
	ringSlots = 1 << ringLog
	frameSlot = ether.MaxLen
	bell      = 4 // buffers that a doorbell announces
)

// newServer sets up driver, referee and traffic of a server that has been built.
func newServer(o *Options, i int, v *board.Server) (*server, error) {
	s := &server{name: v.Name, opts: o, cards: v, card: v.Cards[0], first: i * len(o.Frames) / 2}
	spec := &o.Rack.Servers[i].Cards[0]
	build := buildOf(spec)
	if !o.Unjudged {
		s.card.NIC.Observe(s.crossed)
		var err error
		if s.judge, err = judge.Attach(s.card.NIC, judge.Options{Name: s.name, Build: build}); err != nil {
			return nil, err
		}
	}
	waits, err := spec.Waits()
	if err != nil {
		return nil, err
	}
	d := driver.DefaultOptions()
	d.Build, d.MaxPolls = build, max(d.MaxPolls, waits.Polls)
	for ep, n := range [...]uint64{nicspec.EndpointArm: spec.Endpoint.ArmBytes,
		nicspec.EndpointHost: spec.Endpoint.HostBytes} {
		d.Memory[ep].Bytes = n - min(n, d.Memory[ep].From)
	}
	if s.card.Faults != nil {
		d.ReadsMayFail = func() bool { return s.card.Faults.Hits() > 0 }
	}
	if s.drv, err = driver.New(testbed.Bus(s.card, s.card.Root.MMIO(nicspec.RequesterArm)), d); err != nil {
		return nil, err
	}
	if err := testbed.SetLimits(s.drv, spec.Endpoint.Limits); err != nil {
		return nil, err
	}
	if err := testbed.SetWaits(s.drv, waits); err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, s.card.NIC.Begin(func() bool { return s.over })
}

// buildOf returns the build of a card's NIC.
func buildOf(c *board.CardSpec) nicspec.Build {
	b := nicspec.DefaultBuild()
	if c.Build != nil {
		b = *c.Build
	}
	b.Ports = max(c.Ports, 1)
	if c.EthBits != 0 {
		b.EthBits = c.EthBits
	}
	return b
}

// rack returns the rack to simulate, with one process or two.
func (o *Options) rack() board.RackSpec {
	r := o.Rack
	r.Servers = append([]board.ServerSpec(nil), r.Servers...)
	for i := range r.Servers {
		v := &r.Servers[i]
		v.Cards = append([]board.CardSpec(nil), v.Cards...)
		c := &v.Cards[0]
		b := buildOf(c)
		c.Build, c.Seed = &b, o.Seed+uint64(i)
	}
	return r
}

// factory returns a board.Factory that fills slots with the Go NIC.
func factory() board.Factory { return device.Slots(device.Spec{NIC: device.Model}, nil) }

// open opens the queues.
func (s *server) open() error {
	at, err := s.drv.Alloc(nicspec.EndpointHost, queues*ringSlots*frameSlot, nicspec.LineBytes)
	if err != nil {
		return err
	}
	s.memory = at
	key, err := s.drv.SetKey(driver.KeySpec{Index: 1, Variant: 1, Bus: at, Len: queues * ringSlots * frameSlot,
		Rights: dma.Access{Read: true}})
	if err != nil {
		return err
	}
	for q := range queues {
		if err := s.openReceive(q); err != nil {
			return err
		}
		tx, err := s.drv.OpenTx(driver.TxConfig{QueueConfig: driver.QueueConfig{Queue: q, LogSize: ringLog},
			OnEnd: func(_ *driver.TxQueue, e *driver.TxEnd) {
				s.ended += e.N
			}})
		if err != nil {
			return err
		}
		x := &sender{TxQueue: tx, at: uint64(q * ringSlots * frameSlot)}
		x.span[0].Key = key
		s.tx = append(s.tx, x)
	}
	if err := s.steer(); err != nil {
		return err
	}
	s.drv.Enable(true, true)
	s.drv.Sync()
	s.drv.Then(func() { s.ready = true })
	return nil
}

// start sends the first frames.
func (s *server) start() {
	for range s.opts.Window {
		s.post()
	}
}

// openReceive opens a receive queue and posts its buffers. Each received frame makes the server send another one.
func (s *server) openReceive(q int) error {
	at, err := s.drv.Alloc(nicspec.EndpointHost, ringSlots*frameSlot, nicspec.LineBytes)
	if err != nil {
		return err
	}
	rx, err := s.drv.OpenRx(driver.RxConfig{QueueConfig: driver.QueueConfig{Queue: q, LogSize: ringLog},
		PayBytes: frameSlot,
		OnFrame: func(q *driver.RxQueue, f *driver.RxFrame) {
			s.received++
			s.post()
			s.check(q.Post(f.Buffer))
			if q.Waiting() >= bell {
				s.check(q.Ring())
			}
		}})
	if err != nil {
		return err
	}
	for i := range rx.Size() {
		if err := rx.Post(driver.Buffer{Pay: at + uint64(i*frameSlot)}); err != nil {
			return err
		}
	}
	return rx.Ring()
}

// steer spreads frames over the receive queues.
func (s *server) steer() error {
	var key [nicspec.RssKeyBytes]byte
	for i := range key {
		key[i] = byte(37*i + 11)
	}
	var to []int
	for i := range nicspec.RssEntries {
		to = append(to, i%queues)
	}
	return errors.Join(s.drv.SetRSSKey(key), s.drv.SetIndirection(0, to...),
		s.drv.SetDefault(driver.ToGroup(0, bits.Len(nicspec.RssEntries)-1)))
}
