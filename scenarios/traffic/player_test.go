package traffic_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/ether"
	"nictwin/models/format/msg"
	"nictwin/models/nic"
	"nictwin/models/nic/boundary"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/traffic"
)

const (
	ns = simcore.Nanosecond
	us = simcore.Microsecond
)

// listed is a source with frames in memory and, after them, an error.
type listed struct {
	frames []traffic.Frame
	total  int
	err    error
}

func (l *listed) Total() int { return l.total }

func (l *listed) Next() (f traffic.Frame, err error) {
	if len(l.frames) == 0 {
		return f, l.err
	}
	f, l.frames = l.frames[0], l.frames[1:]
	return f, nil
}

func source(frames ...traffic.Frame) *listed { return &listed{frames, len(frames), io.EOF} }

// sized returns frames of the given sizes, each an interval of gap after the previous one.
func sized(gap simcore.Ps, sizes ...int) (list []traffic.Frame) {
	for _, n := range sizes {
		list = append(list, traffic.Frame{Data: make([]byte, n), Interval: gap})
	}
	return list
}

// pair returns two players, at the ends of a cable.
func pair(t *testing.T) (e *simcore.Engine, a, b *traffic.Player) {
	t.Helper()
	e, pool := simcore.NewEngine(), new(msg.Frames)
	a, b = traffic.NewPlayer("A", e, pool, 0, simcore.DefaultPeriodPs),
		traffic.NewPlayer("B", e, pool, 1, simcore.DefaultPeriodPs)
	require.NoError(t, board.Cable("Cable", e, simcore.LinkSpec{Latency: us, Credits: 64, CreditLatency: us}, a.Eth(),
		b.Eth()))
	return e, a, b
}

// A frame departs at the time of its last byte, at the track's pace. An Ethernet port of 512 bits at 400 MHz has 25.6
// B/ns.
func TestPaces(t *testing.T) {
	for _, x := range []struct {
		name, pace string
		stall      int
		maxGap     simcore.Ps
		frames     []traffic.Frame
		departs    []simcore.Ps
		short      int
	}{
		{"line: frame and 24 B", "line", 0, 0, sized(0, 1000, 232, 40), []simcore.Ps{40_000, 50_000, 52_500}, 0},
		{"half of the cycles stalled", "line", 50, 0, sized(0, 1000, 232), []simcore.Ps{80_000, 100_000}, 0},
		{"1 Gbps: 8 ns a byte", "1", 0, 0, sized(0, 101, 226), []simcore.Ps{1000 * ns, 3000 * ns}, 0},
		{"every cycle a beat", "beats", 0, 0, sized(0, 64, 65, 1), []simcore.Ps{2500, 7500, 10_000}, 0},
		{"as captured, a gap cut", "capture", 0, us, sized(3*us, 232, 232), []simcore.Ps{us, 2 * us}, 2},
		{"as captured, not denser than line", "capture", 0, us, sized(ns, 232, 232), []simcore.Ps{10_000, 20_000}, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			e, a, b := pair(t)
			pace, err := traffic.ParsePace(x.pace, 0, 0)
			require.NoError(t, err)
			require.NoError(t,
				a.Load(traffic.Track{Source: source(x.frames...), Pace: pace, Stall: x.stall, MaxGap: x.maxGap}))
			var departs []simcore.Ps
			var sizes []int
			a.Played = func(i int, f traffic.Frame) {
				require.Equal(t, len(departs), i)
				departs, sizes = append(departs, e.Now()), append(sizes, len(f.Data))
			}
			took := 0
			b.Take = func(f *ether.Frame) { require.Len(t, f.Data, sizes[took]); took++ }
			require.NoError(t, a.Start())
			require.NoError(t, e.Run())
			require.Equal(t, x.departs, departs)
			require.Equal(t, []int{len(x.frames), x.short}, []int{took, a.Shortened()})
			require.Equal(t, a.Total(), a.Sent())
		})
	}
}

// A player without a track plays the frames that Play adds, as soon as they are added, back to back.
func TestPlayAdds(t *testing.T) {
	e, a, b := pair(t)
	var arrived []simcore.Ps
	b.Take = func(*ether.Frame) { arrived = append(arrived, e.Now()) }
	a.Play(sized(0, 1000, 232)...)
	require.NoError(t, e.Run())
	a.Play()
	later := e.Now()
	a.Play(sized(0, 232)...)
	require.NoError(t, e.Run())
	require.Equal(t, []simcore.Ps{us + 40_000, us + 50_000, later + us + 10_000}, arrived)
	require.Len(t, a.At(1), 232)
}

// With players on both ports of a card, each frame reaches its port, and each port has its own pace.
func TestPlayersOnACard(t *testing.T) {
	e, pools := simcore.NewEngine(), new(board.Pools)
	link := simcore.LinkSpec{Latency: us, Credits: 64, CreditLatency: us}
	c, err := board.NewCard(e, pools, board.CardSpec{
		Name: "Card", Ports: 2, EthBits: 256, PCIe: link, Eth: link, Endpoint: board.DefaultEndpoint(),
	}, goNIC)
	require.NoError(t, err)
	in := [2][]int{}
	last := [2]int64{}
	c.NIC.Observe(func(x boundary.Crossing) {
		if x.Kind == boundary.FrameIn {
			in[x.Port], last[x.Port] = append(in[x.Port], len(x.Frame.Data)), x.Last
		}
	})
	for port, pace := range []string{"line", "10"} {
		p := traffic.NewPlayer([]string{"Left", "Right"}[port], e, &pools.Frames, port, c.NIC.Period())
		require.NoError(t, board.Cable(p.Name()+".Cable", e, link, p.Eth(), c.NIC.Eth(port)))
		pc, err := traffic.ParsePace(pace, c.NIC.EthBits(), c.NIC.Period())
		require.NoError(t, err)
		require.NoError(t, p.Load(traffic.Track{Source: source(sized(0, 101+port, 1226-port)...), Pace: pc}))
		require.NoError(t, p.Start())
	}
	require.NoError(t, e.Run())
	require.NoError(t, c.Close())
	require.Equal(t, [2][]int{{101, 1226}, {102, 1225}}, in)
	const flight = 400 // cycles from player to NIC
	require.InDelta(t, flight+(125+1250)/32, last[0], 40, "32 B a cycle")
	require.InDelta(t, flight+(126+1249)*8/10*2/5, last[1], 40, "10 Gbps: 0.8 ns a byte, cycles of 2.5 ns")
}

// inSlot adapts the Go NIC to a slot of a board.
type inSlot struct{ *nic.Comp }

func (n inSlot) Period() simcore.Ps      { return n.Spec().Freq.Period() }
func (n inSlot) EthBits() int            { return n.Spec().EthBits }
func (n inSlot) Begin(func() bool) error { return nil }
func (n inSlot) Check() error            { return nil }
func (n inSlot) Cycles() int64           { return n.Cycle() }
func (n inSlot) Close() error            { return nil }

func goNIC(s board.Slot) (board.NIC, error) {
	spec := nic.DefaultSpec()
	spec.Ports, spec.EthBits = s.Ports, s.EthBits
	c, err := nic.Builder{Scheduler: s.Engine, Spec: spec, Frames: s.Frames, TLPs: s.TLPs}.Build(s.Name)
	return inSlot{c}, err
}

// An error of a source ends the run and names the port and the frame.
func TestPlayersSayWhatIsWrong(t *testing.T) {
	line, err := traffic.ParsePace("line", 0, 0)
	require.NoError(t, err)
	e, a, _ := pair(t)
	require.NoError(t, a.Load(traffic.Track{Source: &listed{sized(0, 60), 2, errors.New("unreadable")}, Pace: line}))
	require.NoError(t, a.Start())
	require.ErrorContains(t, e.Run(), "player: port 0, frame 1: unreadable")
}

// A cable with a single credit holds up its player, which sends a frame for each returned credit.
func TestCablesHoldPlayers(t *testing.T) {
	e, pool := simcore.NewEngine(), new(msg.Frames)
	p, far := traffic.NewPlayer("A", e, pool, 1, simcore.DefaultPeriodPs),
		traffic.NewPlayer("B", e, pool, 0, simcore.DefaultPeriodPs)
	require.NoError(t, board.Cable("Cable", e, simcore.LinkSpec{Latency: us, Credits: 1, CreditLatency: us}, p.Eth(),
		far.Eth()))
	var came []simcore.Ps
	far.Take = func(*ether.Frame) { came = append(came, e.Now()) }
	p.Play(sized(0, 60, 60, 60)...)
	require.NoError(t, e.RunUntil(us+us/2))
	require.True(t, p.Held())
	require.Equal(t, 1, p.Sent())
	require.NoError(t, e.Run())
	require.False(t, p.Held())
	require.Len(t, came, 3)
	for i, at := range came[1:] {
		require.Equal(t, 2*us, at-came[i], "a frame leaves when the credit of the one before is back")
	}
}

func TestTracksNameTheirFields(t *testing.T) {
	_, a, _ := pair(t)
	err := a.Load(traffic.Track{Stall: 91})
	require.EqualError(t, err, "track of port 0: pace: none: want one that ParsePace has read\nstall 91: want 0 to "+
		"90 percent")
	captured, err := traffic.ParsePace("capture", 0, 0)
	require.NoError(t, err)
	require.ErrorContains(t, a.Load(traffic.Track{Pace: captured}), "max_gap 0")
	for _, x := range []struct {
		pace   string
		bits   int
		period simcore.Ps
		most   string // maximum number of Gbps, which the error names; empty: the pace is valid
	}{
		{"fast", 0, 0, "204.8"}, {"204.9", 0, 0, "204.8"}, {"204.8", 0, 0, ""}, {"0", 256, 0, "102.4"},
		{"NaN", 1024, 0, "409.6"},
		{"500", 512, 1000, ""}, {"513", 512, 1000, "512"}, {"", 512, 0, "204.8"},
	} {
		_, err := traffic.ParsePace(x.pace, x.bits, x.period)
		if x.most == "" {
			require.NoError(t, err, x.pace)
			continue
		}
		require.EqualError(t, err, `pace "`+x.pace+`": want line, capture, or Gbps from 0.001 to `+x.most)
	}
}
