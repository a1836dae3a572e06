package bench

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"nictwin/models/board"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/ether"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/traffic"
	"nictwin/stack/driver"
)

// cardLoad moves frames of 4 KB in and out of the Go NIC on a whole card: payload in host memory, rings in Arm
// memory, over links with credits, switch, last-level caches and DRAM. For every received frame one is sent.
// There is no referee.
type cardLoad struct {
	bed      *testbed.Bed
	tx       []*driver.TxQueue
	entry    driver.Send
	span     [1]driver.Span
	posted   int
	received int
	sent     int // work entries that have ended
	out      int // frames that left the NIC
	failed   error
}

const (
	loadFrame = 4096
	loadPace  = "10" // Gbps at each of two ports, low enough for a single queue
	// log2 of all receive buffers together, and of all work entries together: the more queues, the shorter each ring,
	// so that the rings take the same memory
	loadEntries = 10
	loadFlows   = 1 << 10 // number of frames, which differ in their UDP source port
	loadTxBytes = 1 << 20 // bytes of memory that frames are sent from
	runStep     = 2 * simcore.Microsecond
)

// newCardLoad builds the load on a preset, with the given number of queues in each direction. extra is added to the
// latency of the cables.
func newCardLoad(preset string, queues int, seed uint64, extra simcore.Ps) (*cardLoad, error) {
	c, err := board.CardPreset(preset)
	if err != nil {
		return nil, err
	}
	build := nicspec.DefaultBuild()
	build.Ports, build.EthBits, build.NumRxq, build.NumTxq = c.Ports, c.EthBits, 256, 256
	c.Build = &build
	c.Eth.Latency += extra
	c.Eth.Credits = 1 << 16 // Ethernet has no back-pressure, however long the cable
	l := &cardLoad{}
	l.bed, err = testbed.New(testbed.Spec{Spec: device.Spec{NIC: device.Model}, Seed: seed, Card: &c})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(l.open(queues, seed), l.bed.Begin(func() bool { return false })); err != nil {
		return nil, errors.Join(err, l.bed.Close())
	}
	return l, nil
}

// open opens the queues and starts the traffic.
func (l *cardLoad) open(queues int, seed uint64) error {
	d := l.bed.Driver
	at, err := d.Alloc(nicspec.EndpointHost, loadTxBytes, loadFrame)
	if err != nil {
		return err
	}
	key, err := d.SetKey(driver.KeySpec{Index: 1, Variant: 1, Bus: at, Len: loadTxBytes,
		Rights: dma.Access{Read: true}})
	if err != nil {
		return err
	}
	l.span[0] = driver.Span{Key: key, Len: loadFrame}
	log := loadEntries - (bits.Len(uint(queues)) - 1)
	for q := range queues {
		if err := l.openPair(q, log); err != nil {
			return err
		}
	}
	if err := l.steer(queues); err != nil {
		return err
	}
	d.Enable(true, true)
	d.Then(l.start)
	for _, p := range l.bed.Players {
		p.Take = func(*ether.Frame) { l.out++ }
	}
	return l.players(seed)
}

// openPair opens a receive queue, with its buffers, and a transmit queue.
func (l *cardLoad) openPair(q, log int) error {
	d := l.bed.Driver
	const bell = 4 // buffers that a doorbell announces
	rx, err := d.OpenRx(driver.RxConfig{QueueConfig: driver.QueueConfig{Queue: q, LogSize: log}, PayBytes: loadFrame,
		OnFrame: func(q *driver.RxQueue, f *driver.RxFrame) {
			l.received++
			l.post()
			l.check(q.Post(f.Buffer))
			if q.Waiting() >= bell {
				l.check(q.Ring())
			}
		}})
	if err != nil {
		return err
	}
	for range rx.Size() {
		at, err := d.Alloc(nicspec.EndpointHost, loadFrame, loadFrame)
		if err == nil {
			err = rx.Post(driver.Buffer{Pay: at})
		}
		if err != nil {
			return err
		}
	}
	tx, err := d.OpenTx(driver.TxConfig{QueueConfig: driver.QueueConfig{Queue: q, LogSize: log},
		OnEnd: func(_ *driver.TxQueue, e *driver.TxEnd) {
			l.sent += e.N
		}})
	l.tx = append(l.tx, tx)
	return errors.Join(err, rx.Ring())
}

// steer distributes frames over the receive queues.
func (l *cardLoad) steer(queues int) error {
	var key [nicspec.RssKeyBytes]byte
	for i := range key {
		key[i] = byte(37*i + 11)
	}
	var to []int
	for i := range nicspec.RssEntries {
		to = append(to, i%queues)
	}
	d := l.bed.Driver
	return errors.Join(d.SetRSSKey(key), d.SetIndirection(0, to...),
		d.SetDefault(driver.ToGroup(0, bits.Len(nicspec.RssEntries)-1)))
}

// players makes each port's player repeat the same frames endlessly.
func (l *cardLoad) players(seed uint64) error {
	frames, err := Frames(loadFlows, loadFrame, seed)
	if err != nil {
		return err
	}
	pace, err := l.bed.Pace(loadPace)
	if err != nil {
		return err
	}
	for i, p := range l.bed.Players {
		if err := p.Load(traffic.Track{Source: &endless{frames: frames, at: i}, Pace: pace}); err != nil {
			return err
		}
	}
	return nil
}

// start starts the players, after the queues are enabled.
func (l *cardLoad) start() {
	for _, p := range l.bed.Players {
		l.check(p.Start())
	}
}

// post sends one frame on the next transmit queue in turn.
func (l *cardLoad) post() {
	q := l.tx[l.posted%len(l.tx)]
	l.span[0].Off = uint64(l.posted) * loadFrame % loadTxBytes
	l.entry = driver.Send{Order: driver.Order{Complete: true}, Port: l.posted & 1, Pieces: l.span[:]}
	l.posted++
	l.check(q.Post(&l.entry))
	l.check(q.Ring())
}

func (l *cardLoad) check(err error) {
	if l.failed == nil {
		l.failed = err
	}
}

// packets returns the number of packets received or sent.
func (l *cardLoad) packets() int { return l.received + l.sent }

// run runs until n more packets have been received or sent.
func (l *cardLoad) run(n int) error {
	const patience = 1000 // steps without a packet
	for until, idle := l.packets()+n, 0; l.packets() < until; {
		before := l.packets()
		if err := errors.Join(l.bed.Engine.RunUntil(l.bed.Engine.Now()+runStep), l.failed,
			l.bed.Driver.Err()); err != nil {
			return err
		}
		if idle++; l.packets() > before {
			idle = 0
		}
		if idle > patience {
			return fmt.Errorf("load stands still after %d packets received and %d sent", l.received, l.sent)
		}
	}
	return l.bed.Err()
}

// underWay returns the number of frames on cables or in the NIC: played but not received, or posted but not sent.
func (l *cardLoad) underWay() int {
	n := l.posted - l.received - l.out
	for _, p := range l.bed.Players {
		n += p.Sent()
	}
	return n
}

// tlps returns the number of TLPs that crossed the links behind the switch.
func (l *cardLoad) tlps() uint64 { return tlpsOver(l.bed.ArmLink, l.bed.HostLink) }

// tlpsOver returns the number of TLPs that crossed links, in both directions.
func tlpsOver(links ...*pcielink.Link) (n uint64) {
	for _, link := range links {
		if link == nil { // the card has none
			continue
		}
		for end := range 2 {
			c := link.Counters(end)
			for class := range tlp.Completion + 1 {
				n += c.Out[class].TLPs
			}
		}
	}
	return n
}

func (l *cardLoad) close() error { return l.bed.Close() }

// endless is a source that repeats the same frames endlessly.
type endless struct {
	frames [][]byte
	at     int
}

// Next implements traffic.Source.
func (s *endless) Next() (traffic.Frame, error) {
	f := s.frames[s.at%len(s.frames)]
	s.at++
	return traffic.Frame{Data: f}, nil
}

// Total implements traffic.Source.
func (s *endless) Total() int { return math.MaxInt }

var _ traffic.Source = (*endless)(nil)
