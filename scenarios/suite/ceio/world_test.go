package ceio

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/quantity"
	"nictwin/models/sim/simcore"
	nics "nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/shell/home/hometest"
	"nictwin/scenarios/traffic"
	"nictwin/stack/ceio/device"
	"nictwin/stack/ceio/manager"
	"nictwin/stack/driver"
	"nictwin/stack/rpc"
)

func TestMain(m *testing.M) { hometest.Main(m) }

// world is a NIC with flows of stack/ceio, without cores: software works when the schedule says so.
type world struct {
	*testbed.Bed
	rand  *rand.Rand
	judge *judge.Judge
	d     *device.Device
	k     *device.Copier
	flows []*flow
	spec  manager.Spec
	shape shape
	over  bool
	latch bool // the referee sees that the second word of table entries asks for a latch
	host  *driver.Key

	fast, most int // fast packets that software has seen and not processed: now, and at most
}

// flow is a flow with both its ends: the sender repairs what the NIC drops.
type flow struct {
	*device.Flow
	id     int
	shared bool // in the shared ring
	sender *rpc.Sender
	recv   rpc.Receiver
	queued uint32 // messages
	sent   uint64 // frames
	got    int    // packets handed over, sent again or not
	held   []device.Packet
	wanted int
	owes   bool // packets arrived that the sender does not know of
	polls  int  // steps until the controller `arm` looks at the rule again
}

// segment is the payload of each packet of a flow.
const segment = 100

// shape describes the rings of a world.
type shape struct {
	split  int  // bytes split off each frame; 0: frames are whole
	bytes  int  // length of a buffer
	shared bool // a further flow, without account, has the shared ring
}

// whole is the shape of plain rings.
var whole = shape{bytes: 256}

// shapeOf draws the rings of a schedule, independently of everything else that is drawn.
func shapeOf(seed uint64) shape {
	r := rand.New(rand.NewPCG(seed, 41))
	s := whole
	if r.IntN(2) == 0 { // buffers for payload alone, with gaps between them or without
		s.split, s.bytes = headerAt+rpc.DataBytes, []int{segment, 256}[r.IntN(2)]
	}
	s.shared = r.IntN(2) == 0
	return s
}

// spec draws the parameters of a schedule.
func spec(r *rand.Rand) manager.Spec {
	s := manager.DefaultSpec()
	s.Flows, s.Credits, s.Batch, s.Accounts = 2, 6+r.IntN(20), 1+r.IntN(3), manager.AccountsExclusive
	s.FastSlots, s.SlowSlots, s.Landing, s.Copies = 16<<r.IntN(3), 16<<r.IntN(3), 16<<r.IntN(2), 1+r.IntN(4)
	if r.IntN(3) == 0 {
		s.Controller = manager.ControlArm
	}
	s.Inactive, s.Reactivate, s.MarkEvery = quantity.Time(20+r.IntN(100))*1e6, 15e6, 1e6
	return s
}

func newWorld(nic string, seed uint64) (*world, error) {
	return newShaped(nic, seed, shapeOf(seed), nil)
}

// newWorldWith is newWorld with plain rings and other parameters.
func newWorldWith(nic string, seed uint64, change func(*manager.Spec)) (*world, error) {
	return newShaped(nic, seed, whole, change)
}

func newShaped(nic string, seed uint64, rings shape, change func(*manager.Spec)) (*world, error) {
	h, err := hometest.Find()
	if err != nil {
		return nil, err
	}
	return newOn(nics.Spec{NIC: nic, DUT: h.Path("nic")}, seed, rings, change)
}

// newOn is newWorld with a NIC that the caller chooses.
func newOn(nic nics.Spec, seed uint64, rings shape, change func(*manager.Spec)) (*world, error) {
	r := rand.New(rand.NewPCG(seed, 40))
	b, err := testbed.New(testbed.Spec{Spec: nic, LinkCycles: 64, Seed: seed, Stall: r.IntN(2) * 20})
	if err != nil {
		return nil, err
	}
	w := &world{Bed: b, rand: r, shape: rings}
	if w.judge, err = judge.Attach(latched{b.NIC, w}, judge.Options{Build: b.Driver.Build()}); err != nil {
		return nil, err
	}
	if err := b.Begin(func() bool { return w.over }); err != nil {
		return nil, err
	}
	b.Driver.Enable(true, true)
	s := spec(r)
	if rings.shared {
		s.Accounts = manager.AccountsShared
	}
	if change != nil {
		change(&s)
	}
	return w, w.open(s)
}

func (w *world) open(s manager.Spec) error {
	w.spec = s
	host := driver.DefaultOptions().Memory[nicspec.EndpointHost]
	key, err := w.Driver.SetKey(driver.KeySpec{Index: 9, Variant: 1, Len: host.Bytes,
		Bus: nicspec.EndpointHost<<nicspec.EndpointShift | host.From, Rights: dma.Access{Read: true, Write: true}})
	if err != nil {
		return err
	}
	w.host = key
	if w.d, err = device.New(device.Config{Driver: w.Driver, Spec: s, After: w.after}); err != nil {
		return err
	}
	flows, log := s.Flows, 4
	if w.shape.shared {
		flows, log = flows+1, log+1
	}
	if w.k, err = w.d.OpenCopier(1, log, w.Bus); err != nil {
		return err
	}
	for i := range flows {
		f := &flow{id: i, wanted: 1, shared: i == s.Flows}
		r := rpc.DefaultSpec(segment)
		r.Timeout = 20e6
		if f.sender, err = rpc.NewSender(r); err != nil {
			return err
		}
		c := device.FlowConfig{Flow: i, Bus: w.Bus, Rule: i, Copier: w.k, Account: 5 + i, Fast: 2 * i, Slow: 2*i + 1,
			Key: 1 + i, Host: key, Bytes: w.shape.bytes, Split: w.shape.split, Repost: 4}
		if c.Split > 0 {
			c.HdrBytes = 64
		}
		c.Match.Value.Dmac[5], c.Match.Mask.Dmac[5] = byte(i), 0xff
		if f.Flow, err = w.d.Open(c); err != nil {
			return err
		}
		w.flows = append(w.flows, f)
	}
	return w.await("the rings", func() bool { return w.Driver.Idle() })
}

// after implements Config.After.
func (w *world) after(_ int, f func()) {
	w.Engine.Schedule(&simcore.Event{H: call(f), At: w.Engine.Now() + w.Cycles(65)})
}

// call is a handler that calls a function.
type call func()

func (call) Name() string { return "After" }

func (f call) Handle(sim.Event) error {
	f()
	return nil
}

func (w *world) now() manager.Ps { return manager.Ps(w.Engine.Now()) }

func (w *world) run(cycles int) error {
	if err := w.Engine.RunUntil(w.Engine.Now() + w.Cycles(cycles)); err != nil {
		return err
	}
	if err := w.Driver.Err(); err != nil {
		return err
	}
	return w.d.Err()
}

// await runs until a condition holds.
func (w *world) await(what string, done func() bool) error {
	const most = 2000
	for range most {
		if done() {
			return nil
		}
		if err := w.run(100); err != nil {
			return err
		}
	}
	return fmt.Errorf("waited for %s", what)
}

// send lets at most n frames of a flow arrive back to back: header, and payload that follows from it.
func (w *world) send(f *flow, n int) {
	f.sender.Expire(w.now())
	for range n {
		p, ok := f.sender.Next(w.now())
		if !ok {
			return
		}
		b := make([]byte, headerAt+rpc.DataBytes+p.Length)
		b[5] = byte(f.id)
		p.Encode(b[headerAt:])
		fill(b[headerAt+rpc.DataBytes:], p.Number)
		f.sent++
		w.Players[0].Play(traffic.Frame{Data: b})
	}
}

// headerAt is the offset of the header of rpc, behind that of Ethernet.
const headerAt = 14

func fill(b []byte, number uint32) {
	for i := range b {
		b[i] = byte(number>>(8*(i%4))) + byte(i)
	}
}

// look lets the controller `arm` read the hits of a flow's rule. Now and then it is late, as if its core had stopped.
func (w *world) look(f *flow) error {
	m := w.d.Manager()
	if f.polls--; w.spec.Controller != manager.ControlArm || f.polls > 0 || f.shared {
		return nil
	}
	if w.rand.IntN(20) == 0 {
		f.polls = 20
	}
	w.Driver.ReadReg(nicspec.RegRuleHits(f.id), 8, func(v uint64) { m.Polled(f.id, v) })
	return nil
}

// acknowledge tells a sender what has arrived.
func (w *world) acknowledge(f *flow) error {
	if !f.owes {
		return nil
	}
	f.owes = false
	h := f.recv.Ack()
	return f.sender.Acked(w.now(), &h)
}

// poll polls the rings of a flow.
func (w *world) poll(f *flow) error {
	before := w.d.Manager().Stats()
	f.Poll(w.now(), 1+w.rand.IntN(16))
	w.k.Poll(w.now())
	w.fast += int(w.d.Manager().Stats().Fast - before.Fast)
	w.most = max(w.most, w.fast)
	return w.check()
}

// receive calls one of the receive functions and checks every byte.
func (w *world) receive(f *flow) error {
	at, err := len(f.held), error(nil)
	if w.rand.IntN(2) == 0 {
		f.held, err = f.AsyncRecv(w.now(), f.wanted, f.held)
	} else {
		f.held, _, err = f.Recv(w.now(), f.wanted, f.held)
	}
	if err != nil {
		return err
	}
	for i := range f.held[at:] {
		if err := w.examine(f, &f.held[at+i]); err != nil {
			return err
		}
	}
	if f.wanted -= len(f.held) - at; f.wanted == 0 {
		f.wanted = 1 + w.rand.IntN(8)
	}
	return nil
}

// examine checks a packet: its account_seq, if its flow has an account, is the number of packets of the flow before it,
// its rpc header follows those before, and its payload is that of its rpc number.
func (w *world) examine(f *flow, p *device.Packet) error {
	if seq := p.Cqe().AccountSeq(); !f.shared && int(seq) != f.got {
		return fmt.Errorf("flow %d: packet %d was handed over as the %d-th", f.id, seq, f.got)
	}
	f.got++
	b := make([]byte, p.HdrLen+p.Bytes)
	if err := errors.Join(w.Memory.Read(p.Hdr, b[:p.HdrLen]), w.Memory.Read(p.Address, b[p.HdrLen:])); err != nil {
		return err
	}
	h, err := rpc.Decode(b[headerAt:])
	if err != nil {
		return err
	}
	f.owes = true
	if _, err := f.recv.Take(&h, false); err != nil {
		return fmt.Errorf("flow %d: %w", f.id, err)
	}
	want := make([]byte, segment)
	fill(want, h.Number)
	if string(want) != string(b[headerAt+rpc.DataBytes:]) {
		return fmt.Errorf("flow %d: packet %d has wrong bytes", f.id, h.Number)
	}
	return nil
}

// process lets the application end some packets, in a drawn order.
func (w *world) process(f *flow) error {
	w.rand.Shuffle(len(f.held), func(i, j int) { f.held[i], f.held[j] = f.held[j], f.held[i] })
	for n := w.rand.IntN(len(f.held) + 1); n > 0; n-- {
		if f.held[n-1].Fast {
			w.fast--
		}
		f.Done(w.now(), &f.held[n-1], w.rand.IntN(2))
		f.held = append(f.held[:n-1], f.held[n:]...)
	}
	return w.check()
}

func (w *world) check() error {
	m := w.d.Manager()
	if err := m.Credits().Check(); err != nil {
		return err
	}
	inHost := 0
	for _, f := range w.flows {
		inHost += m.InHost(f.id)
	}
	if most := m.Credits().Total() + int(m.Stats().Overshoot); w.fast > inHost || inHost > most {
		return fmt.Errorf("%d fast packets in host memory, and %d for the manager: want as many or fewer, and %d at "+
			"most, the credits and the overshoot", w.fast, inHost, most)
	}
	return w.d.Err()
}

// accounts reads the accounts of the NIC, with nothing under way, and compares them with the manager's book.
func (w *world) accounts(t *testing.T) {
	t.Helper()
	read := 0
	for i := range w.spec.Flows {
		require.NoError(t, w.Driver.ReadAccount(5+i, func(a nicspec.AccountEntryFields) {
			read++
			require.EqualValues(t, w.d.Manager().InAccount(i), a.Balance, "credits of flow %d", i)
		}))
	}
	require.NoError(t, w.await("accounts", func() bool { return read == w.spec.Flows }))
}

// finish ends the run. It returns the frames that the NIC dropped.
func (w *world) finish(t *testing.T) (drops uint64) {
	t.Helper()
	read := false
	w.Driver.ReadCounters(func(c driver.Counters) {
		read, drops = true, c.Port(0, nicspec.CntRxDropNoDesc)+c.Port(0, nicspec.CntRxDropOverflow)
	})
	require.NoError(t, w.await("counters", func() bool { return read }))
	w.over = true
	require.NoError(t, w.Engine.Run())
	rep := w.judge.Finish(judge.Whole)
	require.True(t, rep.Passed(), "%v", rep)
	require.NoError(t, w.Close())
	return drops
}
