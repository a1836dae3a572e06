package data

import (
	"errors"
	"fmt"
	"math/bits"

	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/pipe"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// Config holds the parts of a card's data cores.
type Config struct {
	Spec   Spec
	Driver *driver.Driver // the control core's; its Build tells how many ports and queues the NIC has

	// Cores are the data cores, selected by the low bits of a QPN.
	Cores []*corebus.Bus

	// Regions and Shadow are maintained by the control core: the memory regions with their rights, and the Arm
	// addresses that stand for host memory.
	Regions *verbs.Regions
	Shadow  *pipe.Shadow

	// FirstRx, FirstTx, FirstKey and FirstRule are the first numbers of the NIC's queues, memory keys and rules that
	// the cores use. Each core takes a receive queue, ports + 1 transmit queues, a key and a rule. Lower numbers are
	// the control core's.
	FirstRx, FirstTx, FirstKey, FirstRule int

	// LowLatency is the largest number of low-latency queue pairs. Each takes a receive queue behind those of the
	// cores, a rule before FirstRule, and an account; accounts are taken from 0 on.
	LowLatency int
	Control    func(f func())

	// MACs are the addresses of the ports. Frames to other addresses are dropped: a switch floods frames whose
	// destination it has not learned.
	MACs [][6]byte

	// Host is the NIC's memory key for the host memory that holds pipes of completions.
	Host *driver.Key
}

// Card holds the data cores of one card.
type Card struct {
	cfg     Config
	spec    Spec
	drv     *driver.Driver
	cores   []*core
	ports   int
	keys    map[uint32]*driver.Key // the NIC's memory keys, by region key
	locks   map[uint64][]*atomic   // atomics in progress, by address; the first is in flight
	handles map[verbs.AH]*transport.AH
	async   func(Async)
	took    func(qpn uint32) // nil: nobody follows what cores take

	landings []bool            // by receive queue behind those of the cores: a low-latency queue pair uses the queue
	drops    nicspec.RxCtrlReg // register RX_CTRL as last written
}

// Async is an event of a queue pair or a shared receive queue.
type Async struct {
	Event transport.Event
	QPN   uint32 // queue pair or, for EventSRQLimit, shared receive queue
}

// New opens the queues of all cores. They work once the driver has carried out its commands.
func New(c Config) (*Card, error) {
	if err := c.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if c.Driver == nil || c.Regions == nil || c.Shadow == nil || c.Host == nil {
		return nil, errors.New("data: want a driver, regions, shadow addresses and a key for host memory")
	}
	if n := len(c.Cores); n < 1 {
		return nil, errors.New("data: no cores: want 1 or more")
	}
	if err := c.validateLowLatency(); err != nil {
		return nil, err
	}
	a := &Card{landings: make([]bool, c.LowLatency), cfg: c, spec: c.Spec, drv: c.Driver, ports: c.Driver.Build().Ports,
		keys: map[uint32]*driver.Key{}, locks: map[uint64][]*atomic{}, handles: map[verbs.AH]*transport.AH{}}
	for i := range c.Cores {
		x, err := a.newCore(i)
		if err != nil {
			return nil, fmt.Errorf("data: core %d: %w", i, err)
		}
		a.cores = append(a.cores, x)
	}
	return a, a.steer()
}

// steer sets the rules that send the frames of queue pairs to their cores. All other frames go to the first core.
func (a *Card) steer() error {
	mask := nicspec.SteerKeyFields{IsRoce: true, DestQp: a.Mask()}
	for i, c := range a.cores {
		r := driver.Rule{Value: nicspec.SteerKeyFields{IsRoce: true, DestQp: uint32(i)}, Mask: mask,
			To: driver.ToQueue(c.rx.Number())}
		if err := a.drv.SetRule(a.cfg.FirstRule+i, r); err != nil {
			return err
		}
	}
	return a.drv.SetDefault(driver.ToQueue(a.cores[0].rx.Number()))
}

// Cores returns the number of data cores.
func (a *Card) Cores() int { return len(a.cores) }

// Mask returns the mask for the core number in the low bits of a queue pair's number.
func (a *Card) Mask() uint32 { return 1<<bits.Len(uint(len(a.cores)-1)) - 1 }

// OnAsync sets the handler of events. f is called as software of the core that owns the queue pair.
func (a *Card) OnAsync(f func(Async)) { a.async = f }

// OnTake sets a function that is called when a core takes a send element, with its queue pair's number.
func (a *Card) OnTake(f func(qpn uint32)) { a.took = f }

// SetKey sets the NIC's memory key for a region of Config.Regions; its range is the region's.
func (a *Card) SetKey(region uint32, k *driver.Key) { a.keys[region] = k }

// Key returns the NIC's memory key for a region, or nil.
func (a *Card) Key(region uint32) *driver.Key { return a.keys[region] }

// DropKey removes the NIC's memory key for a region. done is called when no entry that names it is in flight on any
// core; the key may then be dropped. Each core checks its own queues as its own software.
func (a *Card) DropKey(region uint32, done func()) {
	delete(a.keys, region)
	pending := len(a.cores)
	for _, c := range a.cores {
		c.cpu.Call(func() {
			c.revokeLanding(region, func() {
				c.drain(func() {
					if pending--; pending == 0 {
						done()
					}
				})
			})
		})
	}
}

// Err returns the first error of a core, or nil.
func (a *Card) Err() error {
	for i, c := range a.cores {
		if c.err != nil {
			return fmt.Errorf("data: core %d: %w", i, c.err)
		}
	}
	return a.drv.Err()
}

// Idle reports whether the cores have nothing in flight at the NIC and nothing waiting for it. Timers may run.
func (a *Card) Idle() bool {
	for _, c := range a.cores {
		if !c.idle() {
			return false
		}
	}
	return true
}

// Timers returns the number of connections that have a deadline.
func (a *Card) Timers() (n int) {
	for _, c := range a.cores {
		n += len(c.timers)
	}
	return n
}

// Timer returns the queue pair whose timer runs out first; ok is false if none is armed.
func (a *Card) Timer() (qpn uint32, ok bool) {
	first := timer{at: transport.Never}
	for _, c := range a.cores {
		if len(c.timers) > 0 && c.timers[0].at < first.at {
			first = c.timers[0]
		}
	}
	if first.q == nil {
		return 0, false
	}
	return first.q.config.QPN, true
}

// Progress returns a number that changes when a queue pair makes progress; retransmissions do not count.
func (a *Card) Progress() (n uint64) {
	for _, c := range a.cores {
		n += c.stats.Copied + c.stats.Completions + c.stats.Elements + c.stats.Landed
		for _, q := range c.qps {
			if q.conn != nil {
				s := q.conn.Stats()
				n += s.Sent - s.Resent
			}
		}
	}
	return n
}

// Depths are the lengths of queues, summed over all cores.
type Depths struct {
	Frames      int // in the transmit rings
	Copies      int // in the rings of copies
	Waiting     int // copies that wait for room in those rings
	Packets     int // received packets in use
	Completions int // that wait because their pipes are full
	Active      int // queue pairs that may have something to send
}

// Depths returns the lengths of queues.
func (a *Card) Depths() (d Depths) {
	for _, c := range a.cores {
		for _, s := range c.tx {
			d.Frames += s.inFlight.Len()
		}
		d.Copies += c.copies.inFlight.Len()
		d.Waiting += c.copies.waiting.Len()
		d.Packets += len(c.packets.all) - len(c.packets.free)
		for _, q := range c.cqs {
			d.Completions += q.held.Len()
		}
		d.Active += c.active.Len()
	}
	return d
}

// Stats are counters since the cores were opened, summed over all cores.
type Stats struct {
	Received      uint64 // packets passed to connections
	Sent          uint64 // frames sent
	Elements      uint64 // elements taken from pipes
	Completions   uint64
	BadICRC       uint64 // packets dropped: the ICRC was wrong
	Malformed     uint64 // packets dropped: shorter than their headers say
	Stray         uint64 // packets dropped: other addresses, no such queue pair, or frames that no queue pair takes
	Marked        uint64 // packets with a congestion mark (ECN)
	Notified      uint64 // congestion notification packets received
	Copied        uint64 // bytes moved by copies
	Invalidations uint64 // work entries that invalidate lines
	Staged        uint64 // payload bytes copied into the staging ring
	Kept          uint64 // packets that arrived early and were copied to reorder memory
	Landed        uint64 // packets whose payload the NIC wrote to an application's buffer
	Returned      uint64 // landed packets that were not accepted and whose buffers were reposted
	HeldBack      uint64 // completions that found their pipe full
	Records       uint64 // DMA reads of doorbell records
	Fetches       uint64 // DMA reads of elements
}

func (s *Stats) add(o *Stats) {
	s.Received += o.Received
	s.Sent += o.Sent
	s.Elements += o.Elements
	s.Completions += o.Completions
	s.BadICRC += o.BadICRC
	s.Malformed += o.Malformed
	s.Stray += o.Stray
	s.Marked += o.Marked
	s.Notified += o.Notified
	s.Copied += o.Copied
	s.Invalidations += o.Invalidations
	s.Staged += o.Staged
	s.Kept += o.Kept
	s.Landed += o.Landed
	s.Returned += o.Returned
	s.HeldBack += o.HeldBack
	s.Records += o.Records
	s.Fetches += o.Fetches
}

// Stats returns the sum of the cores' counters.
func (a *Card) Stats() (s Stats) {
	for _, c := range a.cores {
		s.add(&c.stats)
	}
	return s
}
