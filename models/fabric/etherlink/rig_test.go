package etherlink

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/format/ether"
	"nictwin/models/format/msg"
	"nictwin/models/format/wire"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// host sends its list of frames as fast as its link takes them, and records what it receives. If
// polite is set, it obeys pauses.
type host struct {
	*sim.ComponentBase
	t      testing.TB
	clock  simcore.Clock
	pool   *msg.Frames
	port   *simcore.Port
	out    fifo.Queue[*msg.Frame]
	polite bool
	until  [8]simcore.Ps
	wake   timer
	mbps   int64

	refill func() *msg.Frame // returns the next frame to send once out is empty
	keep   bool
	got    [][]byte
	at     []simcore.Ps
	from   map[byte]int // bytes received, by sender
	ce     int
	pauses int
	bytes  int
	log    func(h *host, f *msg.Frame)
}

func (h *host) Handle(sim.Event) error { h.wake.armed = false; h.push(); return nil }

func (h *host) NotifyPortFree(sim.VTimeInSec, sim.Port) { h.push() }

func (h *host) push() {
	for {
		if h.out.Len() == 0 && h.refill != nil {
			if f := h.refill(); f != nil {
				h.out.Push(f)
			}
		}
		if h.out.Len() == 0 {
			return
		}
		now := h.clock.Now()
		f := *h.out.Front()
		if end := h.until[core.ByDSCP.Class(f.Data)]; end > now {
			h.wake.arm(&h.clock, end)
			return
		}
		if !h.port.CanSend() {
			return
		}
		h.out.Pop()
		require.Nil(h.t, h.port.SendAt(f, now))
	}
}

func (h *host) NotifyRecv(at sim.VTimeInSec, _ sim.Port) {
	for m := h.port.Retrieve(at); m != nil; m = h.port.Retrieve(at) {
		f, now := m.(*msg.Frame), h.clock.Now()
		if h.log != nil {
			h.log(h, f)
		}
		if p, ok := ether.ParsePause(f.Data); ok {
			h.pauses++
			for c := range h.until {
				if h.polite && p.Classes>>c&1 != 0 {
					h.until[c] = now + simcore.Ps(int64(p.Quanta[c])*512*1_000_000/h.mbps)
				}
			}
		} else {
			h.from[f.Data[11]] += len(f.Data)
			h.bytes += len(f.Data)
			if len(f.Data) > 15 && f.Data[12] == 8 && f.Data[15]&3 == 3 {
				h.ce++
			}
		}
		if h.keep {
			h.got, h.at = append(h.got, append([]byte(nil), f.Data...)), append(h.at, now)
		}
		h.pool.Put(f)
	}
	h.push()
}

// frame returns an IPv4 frame of n bytes, with ECT(0), of a class and a flow (UDP source port).
func frame(src, dst byte, n int, class uint8, flow uint16) []byte {
	f := make([]byte, n)
	copy(f, []byte{2, 0, 0, 0, 0, dst, 2, 0, 0, 0, 0, src, 8, 0})
	ip := f[14:]
	ip[0], ip[1], ip[8], ip[9] = 0x45, class<<5|2, 64, 17
	binary.BigEndian.PutUint16(ip[2:], uint16(n-14))
	copy(ip[12:], []byte{10, 0, 0, src, 10, 0, 0, dst})
	binary.BigEndian.PutUint16(ip[20:], flow)
	binary.BigEndian.PutUint16(ip[22:], 9)
	binary.BigEndian.PutUint16(ip[24:], uint16(n-34))
	if err := wire.SetIPv4HeaderChecksum(ip); err != nil {
		panic(err)
	}
	return f
}

// rig is a switch with a host at each port. The address of host i ends with i+1.
type rig struct {
	t     testing.TB
	e     sim.Engine
	pool  *msg.Frames
	sw    *Switch
	hosts []*host
	links []*Link
}

func newHost(t testing.TB, e sim.Engine, pool *msg.Frames, name string, mbps int64) *host {
	h := &host{ComponentBase: sim.NewComponentBase(name), t: t, clock: simcore.NewClock(e), pool: pool, mbps: mbps,
		polite: true, from: map[byte]int{}}
	h.port = simcore.NewPort(h, 64, name+".Eth")
	h.wake.ev = simcore.Event{H: h}
	return h
}

// newRig makes a rig. Host i has links[i] or, if there are fewer, the last one.
func newRig(t testing.TB, e sim.Engine, spec Spec, links ...LinkSpec) *rig {
	t.Helper()
	r := &rig{t: t, e: e, pool: new(msg.Frames)}
	var err error
	r.sw, err = Builder{Scheduler: e, Spec: spec, Frames: r.pool}.Build("Switch")
	require.NoError(t, err)
	for i := range spec.Ports {
		l := links[min(i, len(links)-1)]
		h := newHost(t, e, r.pool, fmt.Sprintf("Host[%d]", i), l.Mbps)
		x, err := Connect(fmt.Sprintf("Cable[%d]", i), e, r.pool, l, h.port, r.sw.Port(i))
		require.NoError(t, err)
		r.hosts, r.links = append(r.hosts, h), append(r.links, x)
	}
	return r
}

// fixed adds the hosts' addresses to the switch's table.
func fixed(s Spec) Spec {
	for i := range s.Ports {
		s.Table = append(s.Table, core.Entry{MAC: core.MAC{2, 0, 0, 0, 0, byte(i + 1)}, Port: i})
	}
	return s
}

func (r *rig) send(from int, frames ...[]byte) {
	for _, f := range frames {
		r.hosts[from].out.Push(r.pool.Copy(f))
	}
	r.hosts[from].push()
}

// stream makes a host send `count` copies of a frame.
func (r *rig) stream(from, count int, f []byte) {
	r.hosts[from].refill = func() *msg.Frame {
		if count == 0 {
			return nil
		}
		count--
		return r.pool.Copy(f)
	}
	r.hosts[from].push()
}

// run runs until no event is left, and requires that every frame is accounted for.
func (r *rig) run() {
	r.t.Helper()
	require.NoError(r.t, r.e.Run())
	require.NoError(r.t, r.sw.Err())
	r.balanced()
	require.True(r.t, r.sw.Idle())
	require.Zero(r.t, r.sw.Held())
	require.Zero(r.t, r.sw.Buffered())
}

func (r *rig) balanced() {
	r.t.Helper()
	in, out := r.sw.Balance()
	require.Equal(r.t, in, out)
	for i, l := range r.links {
		for end := range 2 {
			c := l.Counters(end)
			require.Equal(r.t, c.In, c.Out.Plus(c.Lost).Plus(c.Overrun).Plus(l.Held(end)))
		}
		require.Equal(r.t, l.Counters(0).Out, r.sw.Counters(i).In)
	}
}

// digest returns a function for a digest of all frames that the hosts receive, with their times.
// Hosts are hashed separately, so that their order within an instant does not matter.
func (r *rig) digest() func() uint64 {
	sums := make([]uint64, len(r.hosts))
	for i, h := range r.hosts {
		h.log = func(h *host, f *msg.Frame) {
			d := fnv.New64a()
			var head [16]byte
			binary.LittleEndian.PutUint64(head[:], sums[i])
			binary.LittleEndian.PutUint64(head[8:], uint64(h.clock.Now()))
			d.Write(head[:])
			d.Write(f.Data)
			sums[i] = d.Sum64()
		}
	}
	return func() (sum uint64) {
		for _, s := range sums {
			sum = sum*31 + s
		}
		return sum
	}
}

func bothEngines(t *testing.T, f func(t *testing.T, e sim.Engine)) {
	t.Run("simcore", func(t *testing.T) { f(t, simcore.NewEngine()) })
	t.Run("Akita", func(t *testing.T) { f(t, sim.NewSerialEngine()) })
}
