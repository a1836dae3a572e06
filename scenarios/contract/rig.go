package contract

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden"
	"nictwin/models/board"
	"nictwin/models/boundary"
	"nictwin/models/mem"
	"nictwin/models/nicspec"
	"nictwin/models/root"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
	"nictwin/scenarios/judge"
	"nictwin/scenarios/testbed"
	"nictwin/scenarios/traffic"
	"nictwin/stack/driver"
	"nictwin/stack/driver/rootbus"
)

// rig is a board with a NIC under test, and what a check does with it. Its methods let time go on until what they wait for
// has happened, and fail the test when it does not.
type rig struct {
	t     *testing.T
	eth   int // the NIC's port that checks know as port 0; see portOf
	b     *testbed.Bed
	root  *root.Root
	nic   *driver.Driver // sets registers; what it does not allow, checks write themselves
	sizes nicspec.Build
	stall int
	way   int // cycles that are enough for a write of software to take effect, and for a message to come back
	judge *judge.Judge
	found []*golden.Mismatch // by the referee, so far

	cpls   []completion // answers to raw requests
	out    []sent       // frames that left, in order
	rx     map[int]*rxRing
	tx     map[int]*txRing
	free   [2]uint64 // first free offset of each memory
	keys   keyTable  // as written
	over   bool
	idleAt int64  // latest cycle in which the pin busy was seen to be 0
	roce   uint16 // ROCE_PORT

	rssKey [nicspec.RssKeyBytes]byte     // as written
	rxMod  func(*nicspec.RxqEntryFields) // of queues that are opened; may be nil
	txMod  func(*nicspec.TxqEntryFields) // likewise
	indir  [nicspec.RssEntries]int       // table Indirection, as written

	reads []tlp.Header // of the device, if keepReads
	keep  bool
	watch func(boundary.Crossing) // sees every TLP; may be nil

	frames func(boundary.Crossing) // sees every frame; may be nil
}

// completion is an answer of the NIC to a raw request.
type completion struct {
	tlp.Header
	data []byte
}

// sent is a frame that left the NIC.
type sent struct {
	port  int // as checks count them
	queue int
	data  []byte
	cycle int64
}

// Links are short, so that waiting costs few cycles.
const linkCycles = 64

const memoryBytes = 1 << 40 // of each endpoint, so that addresses have more than 32 bits

// endpoint is the memories and their manners.
func endpoint(stall int) board.Endpoint {
	s := board.DefaultEndpoint()
	s.ArmBytes, s.HostBytes, s.Tags, s.Latency, s.Seed = memoryBytes, memoryBytes, 128, 80*simcore.Nanosecond, 5
	s.Limits = tlp.Limits{MPS: 512, MRRS: 4096, RCB: 64}
	if stall > 0 {
		s.Delay.Jitter, s.Split = 300*simcore.Nanosecond, tlp.CplRandom
	}
	s.Faults = true
	return s
}

func newRig(t *testing.T, sizes nicspec.Build, build Build, s testbed.Spec) *rig {
	t.Helper()
	b, err := build(s)
	require.NoError(t, err)
	r := &rig{t: t, eth: sizes.Ports - 1, b: b, root: b.Root, sizes: sizes, stall: s.Stall, rx: map[int]*rxRing{}, tx: map[int]*txRing{},
		free: [2]uint64{1 << 20, 1 << 33}, roce: nicspec.ResetRocePort, keys: keyTable{}, way: wayOf(s.Card)}
	t.Cleanup(r.close)
	r.nic, err = driver.New(rootbus.Bus{Regs: b.Arm, Memory: b.Memory}, driver.Options{Build: sizes, MaxPolls: 1})
	require.NoError(t, err)
	r.judge, err = judge.Attach(b.NIC, judge.Options{
		Build: sizes, MaxMismatches: 5,
		OnMismatch: func(m *golden.Mismatch) { r.found = append(r.found, m) },
	})
	require.NoError(t, err)
	b.NIC.Observe(r.see)
	b.NIC.ObserveRest(func(x boundary.Rest) { r.idleAt = x.Last })
	b.Root.OnCompletion = func(h *tlp.Header, data []byte) {
		r.cpls = append(r.cpls, completion{*h, append([]byte(nil), data...)})
	}
	b.Host.OnCompletion = b.Root.OnCompletion
	pace, err := b.Pace("line")
	require.NoError(t, err)
	for _, p := range b.Players {
		require.NoError(t, p.Load(traffic.Track{Pace: pace, Stall: s.Stall}))
	}
	require.NoError(t, b.Begin(func() bool { return r.over }))
	return r
}

func (r *rig) see(x boundary.Crossing) {
	if r.watch != nil && x.TLP != nil {
		r.watch(x)
	}
	if r.frames != nil && x.Frame != nil {
		r.frames(x)
	}
	switch {
	case x.Kind == boundary.FrameIn && r.stall == 0: // then nobody but the device could hold it back, which it may not [B4]
		beats := (8*len(x.Frame.Data) + r.sizes.EthBits - 1) / r.sizes.EthBits
		require.EqualValues(r.t, beats, x.Last-x.First+1, "cycles in which a frame of %d B came in", len(x.Frame.Data))
	case x.Kind == boundary.FrameOut:
		r.out = append(r.out, sent{r.portOf(x.Port), x.Frame.Queue, append([]byte(nil), x.Frame.Data...), x.Last})
	case x.Kind == boundary.TLPOut && r.keep && tlp.Parse(&x.TLP.Hdr).Kind == tlp.MRd:
		r.reads = append(r.reads, tlp.Parse(&x.TLP.Hdr))
	}
}

// close ends the device; a test that failed is told what the referee saw.
func (r *rig) close() {
	if err := r.b.Close(); err != nil {
		r.t.Errorf("the device ends with: %v", err)
	}
	if r.t.Failed() && !r.over {
		for _, m := range r.found {
			r.t.Logf("the referee: %v", m.Detail())
		}
	}
}

// finish lets everything come to its end, reads every counter, and hears the referee.
func (r *rig) finish() {
	r.t.Helper()
	r.quiet()
	r.busyFalls()
	for i := range r.sizes.NumRules {
		r.readLater(nicspec.RegRuleHits(i), 8, func(uint64) {})
	}
	r.counters()
	r.over = true
	require.NoError(r.t, errors.Join(r.b.Err(), r.b.NIC.Check()))
	rep := r.judge.Finish(judge.Whole)
	if !rep.Passed() {
		r.t.Errorf("the referee: %v", rep)
	}
	for _, n := range rep.Notes {
		r.t.Logf("note: %s", n)
	}
}

// set demands that the driver has set what it was asked to. Registers are written at once.
func (r *rig) set(err error) { r.t.Helper(); require.NoError(r.t, errors.Join(err, r.nic.Err())) }

// run lets time pass.
func (r *rig) run(n int) {
	r.t.Helper()
	err := r.b.Engine.RunUntil(r.b.Engine.Now() + r.b.Cycles(n))
	require.NoError(r.t, errors.Join(err, r.b.Err()))
}

// patience is how many cycles a wait may take.
const patience = 100_000

// until lets time pass until something holds.
func (r *rig) until(what string, holds func() bool) {
	r.t.Helper()
	const step = 16
	for n := 0; !holds(); n += step {
		if n > patience {
			require.FailNow(r.t, "waited in vain", "%s, for %d cycles", what, patience)
		}
		r.run(step)
	}
}

// quiet waits until everything that was sent to the device is done with, and nothing happens any more.
func (r *rig) quiet() {
	r.t.Helper()
	r.until("the frames are played", r.allPlayed)
	r.run(2 * nicspec.VisibleCycles)
	r.until("the device is idle", func() bool { return r.read(nicspec.RegStatus) == 0 })
	r.until("the endpoint is idle", r.b.Idle)
	r.run(2 * nicspec.VisibleCycles)
	r.until("the device is still idle", func() bool { return r.read(nicspec.RegStatus) == 0 })
	r.run(nicspec.VisibleCycles) // counters have been stepped
}

// alloc takes n bytes of an endpoint's memory; the address is a multiple of align, a power of two.
func (r *rig) alloc(endpoint, n, align int) uint64 {
	at := (r.free[endpoint] + uint64(align) - 1) &^ (uint64(align) - 1)
	r.free[endpoint] = at + uint64(n)
	return mem.Bus(endpoint, at)
}

func (r *rig) store(bus uint64, b []byte) {
	r.t.Helper()
	require.NoError(r.t, r.b.Memory.Write(bus, b))
}

func (r *rig) load(bus uint64, n int) []byte {
	r.t.Helper()
	b := make([]byte, n)
	require.NoError(r.t, r.b.Memory.Read(bus, b))
	return b
}
