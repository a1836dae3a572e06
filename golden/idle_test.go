package golden

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// judgeIdle replays a tape to a referee, with intervals in which the pin busy was 0.
func judgeIdle(t testing.TB, cfg Config, tape []boundary.Crossing, rests ...boundary.Rest) *Report {
	t.Helper()
	g, err := New(cfg)
	require.NoError(t, err)
	for i := range tape {
		for ; len(rests) > 0 && rests[0].Last < tape[i].Last; rests = rests[1:] {
			g.Rest(rests[0])
		}
		g.Observe(tape[i])
	}
	for _, x := range rests {
		g.Rest(x)
	}
	return g.Finish()
}

// The Go NIC is idle between its work, and reports that correctly.
func TestRests(t *testing.T) {
	o := smallRig()
	o.spec.Parts = nicspec.PartMsix
	o.stalls.Streams = map[string]int{nic.StreamTLPOut: 30}
	r := newRig(t, o)
	var rests []boundary.Rest
	r.nic.ObserveRest(func(x boundary.Rest) { rests = append(rests, x) })
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.readable(pattern(keySpan, 1))
	m.Write32(nicspec.RegRxDefault, toQueue0)
	m.OpenRx(0, 5, rxMessages(0, 3, 20))
	m.OpenTx(2, 5, txMessages(1, 2, 0))
	m.post(0, 30)
	for i := range 12 {
		r.peers[0].send(pattern(60+i*301, uint64(i)))
		m.push(2, entryAt(i, 400))
		m.RingTx(2)
		r.step(simcore.Microsecond / 2)
	}
	r.settle()
	m.readCounters()
	p := judgeIdle(t, DefaultConfig(o.spec.Build), r.tape, rests...)
	require.True(t, p.Passed(), "%v", p)
	require.Greater(t, len(rests), 20)
	require.True(t, slices.IsSortedFunc(rests, func(a, b boundary.Rest) int { return int(a.First - b.Last) }))
}

// idleSabotage claims that the pin busy was 0 in a cycle next to a picked crossing, although the device had work. The
// referee must report this for at least one of the picked crossings.
type idleSabotage struct {
	what  string
	run   func(testing.TB) (Config, []boundary.Crossing)
	picks pick
	at    func(x *boundary.Crossing) int64
}

func before(x *boundary.Crossing) int64 { return x.First - 1 }
func after(x *boundary.Crossing) int64  { return x.Last + 1 }

func kindOf(k boundary.Kind) pick { return func(x *boundary.Crossing) bool { return x.Kind == k } }

func messagesOf(t testing.TB) (Config, []boundary.Crossing) {
	cfg, tape, _ := messageRun(t, 50)
	return cfg, tape
}

var idleSabotages = []idleSabotage{
	{"a read that is outstanding", calm, out(tlp.MRd, func(*tlp.Header, *boundary.Crossing) bool { return true }),
		after},
	{"a frame that is leaving", calm, kindOf(boundary.FrameOut), func(x *boundary.Crossing) int64 { return x.First }},
	{"a frame that is leaving", calm, kindOf(boundary.FrameOut), func(x *boundary.Crossing) int64 { return x.Last }},
	{"a TLP that is leaving", calm, kindOf(boundary.TLPOut), func(x *boundary.Crossing) int64 { return x.Last }},
	{"an answer to be sent", calm, out(tlp.CplD, func(*tlp.Header, *boundary.Crossing) bool { return true }), before},
	{"a frame that is delivered later", calm, rxCqe(0), before},
	{"a frame that was read", calm, kindOf(boundary.FrameOut), before},
	{"a completion entry to be written", messagesOf, txCqe(0), before},
	{"a message that is due", messagesOf, msixWrite(1), before},
	{"a message that is due by time", messagesOf, msixWrite(2),
		func(x *boundary.Crossing) int64 { return x.First - 300 }},
	{"bytes of a copy", copies,
		out(tlp.MWr, func(h *tlp.Header, _ *boundary.Crossing) bool { return h.Address-copyBus < keySpan }), before},
}

func TestIdleWhileAtWork(t *testing.T) {
	for _, s := range idleSabotages {
		cfg, tape := s.run(t)
		shown := 0
		for i := range tape {
			if !s.picks(&tape[i]) {
				continue
			}
			at := s.at(&tape[i])
			p := judgeIdle(t, cfg, tape, boundary.Rest{First: at, Last: at})
			for _, m := range p.List {
				require.Equal(t, []string{"B8", "busy", "0"}, []string{m.Rule, m.Field, m.Got}, "%v", m)
				require.Equal(t, at, m.Cycle)
				if m.Expected == "1: the device holds "+s.what {
					shown++
				}
			}
			if shown > 0 {
				break
			}
		}
		require.Positive(t, shown, s.what)
	}
}

// An idle interval that begins one cycle too early is reported, with the cycle in which the device still had work.
func TestIdleOneCycleTooEarly(t *testing.T) {
	cfg, tape := calm(t)
	end := tape[len(tape)-1]
	p := judgeIdle(t, cfg, tape, boundary.Rest{First: end.Last + 1, Last: end.Last + 100})
	require.True(t, p.Passed(), "%v", p)
	p = judgeIdle(t, cfg, tape, boundary.Rest{First: end.Last, Last: end.Last + 100})
	require.Len(t, p.List, 1)
	require.Equal(t,
		fmt.Sprintf("cycle %d, device [B8] busy: expected 1: the device holds a TLP that is leaving, got 0", end.Last),
		p.List[0].String())
}

// Idle intervals out of order are a fault of the observer, like crossings out of order.
func TestIdleIntervalsOutOfOrder(t *testing.T) {
	cfg, tape := calm(t)
	g, err := New(cfg)
	require.NoError(t, err)
	g.Observe(tape[0])
	g.Observe(tape[1])
	g.Rest(boundary.Rest{First: tape[1].Last - 2, Last: tape[1].Last - 1})
	require.Contains(t, g.Finish().Reason, "out of order")
}
