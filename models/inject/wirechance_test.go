package inject_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/format/wire"
	"nictwin/models/inject"
	"nictwin/models/sim/simcore"
)

var hostile = inject.WireSpec{Seed: 3, Chances: inject.Chances{Loss: 0.1, Duplication: 0.1, Disorder: 0.1,
	Corruption: 0.1, Headers: 0.1, ECN: 0.1}}

// struck returns the strike on each packet, by queue pair, PSN and attempt.
func struck(t *testing.T, s inject.WireSpec, frames ...[]byte) map[string]inject.Strike {
	c, all := newCable(t, s), map[string]inject.Strike{}
	c.wire.Seen = func(_ inject.Direction, f *msg.Frame, s *inject.Strike) {
		bth := wire.BTH(f.Data[42:])
		key := fmt.Sprint(bth.DestQP(), bth.PSN(), s.Attempt)
		require.NotContains(t, all, key)
		all[key] = *s
	}
	c.ends[1].silent = true
	c.play(frames...)
	return all
}

// The strike on a packet depends on seed, flow, PSN and attempt only: neither the order of flows nor other packets
// in between may change it.
func TestChancesAreKeyed(t *testing.T) {
	var a, b, again [][]byte
	for psn := range uint32(500) {
		a, b = append(a, packet(wire.RCWriteMiddle, 5, psn)), append(b, packet(wire.RCWriteMiddle, 6, psn))
		if psn%3 == 0 {
			again = append(again, packet(wire.RCWriteMiddle, 5, psn))
		}
	}
	first := struck(t, hostile, slices.Concat(a, again, b)...)
	r := rand.New(rand.NewPCG(1, 2))
	for range 3 { // the same packets again, each moved by at most 50 places
		mixed := slices.Concat(b, again, a)
		place := make([]int, len(mixed))
		for i := range place {
			place[i] = i
		}
		slices.SortStableFunc(place, func(x, y int) int { return x - y + r.IntN(100) - 50 })
		var frames [][]byte
		for _, i := range place {
			frames = append(frames, mixed[i])
		}
		second := struck(t, hostile, frames...)
		require.Len(t, second, len(first))
		for key, s := range second {
			want := first[key]
			s.PSN, want.PSN = 0, 0 // PSNs are counted from the first one seen, which the order changes
			require.Equal(t, want, s, key)
		}
	}
	other := hostile
	other.Seed++
	require.NotEqual(t, first, struck(t, other, slices.Concat(a, again, b)...))
}

// Each effect must strike its share of the packets; attempts of one packet are drawn independently.
func TestChancesAreShares(t *testing.T) {
	const n = 4000
	for name, frames := range map[string][][]byte{"psns": nil, "attempts": nil} {
		for i := range uint32(n) {
			if name == "attempts" {
				i = 7
			}
			frames = append(frames, requests(i)...)
		}
		c := newCable(t, hostile)
		c.ends[1].silent = true
		c.play(frames...)
		got := c.wire.Count(inject.FromDevice)
		require.EqualValues(t, n, got.In)
		require.InDelta(t, 0.1, float64(got.Lost)/n, 0.02, name)
		kept := float64(n - got.Lost)
		require.InDelta(t, 0.1, float64(got.Duplicated)/kept, 0.02, name)
		require.InDelta(t, 0.1, float64(got.Held)/kept, 0.02, name)
		require.InDelta(t, 0.19, float64(got.Corrupted)/kept, 0.03, name)
		require.InDelta(t, 0.1, float64(got.Marked)/kept, 0.02, name)
		require.Equal(t, inject.WireCount{}, c.wire.Count(inject.ToDevice))
	}
}

// Attempts of every PSN in the window are counted, however the PSNs jump. A PSN before the window starts the flow
// anew.
func TestAttemptsOfTheWindow(t *testing.T) {
	const window = 64
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := newCable(t, inject.WireSpec{Window: window})
		var seen inject.Strike
		c.wire.Seen = func(_ inject.Direction, _ *msg.Frame, s *inject.Strike) { seen = *s }
		c.ends[1].silent = true
		tried, high, first := map[int]int{}, int(r.Uint32()&0xffffff), 0
		first = high
		for i := range 3000 {
			psn := high
			switch r.IntN(20) * min(i, 1) {
			case 0:
				psn += r.IntN(300) * min(i, 1)
			case 1, 2, 3:
				psn -= r.IntN(window)
			case 4:
				if r.IntN(20) == 0 {
					psn -= window + r.IntN(1000)
					first, high = psn, psn
					clear(tried)
				}
			default:
				psn++
			}
			high = max(high, psn)
			c.send(0, requests(uint32(psn))...)
			require.NoError(t, c.Run())
			require.Equal(t, tried[psn], seen.Attempt)
			require.EqualValues(t, psn-first, seen.PSN)
			tried[psn]++
			for p := range tried {
				if p <= high-window {
					delete(tried, p)
				}
			}
		}
	}
}

// No frame appears or vanishes: frames received and copied are frames sent on, lost or held, on Akita's engine as
// well.
func TestWireConserves(t *testing.T) {
	c := newCable(t, hostile)
	for psn := range uint32(3000) {
		c.send(0, requests(psn)...)
		n := c.wire.Count(inject.FromDevice)
		under := int(n.In+n.Duplicated-n.Lost) - len(c.ends[1].got)
		require.GreaterOrEqual(t, under, c.wire.Held(inject.FromDevice))
	}
	require.NoError(t, c.Run())
	n := c.wire.Count(inject.FromDevice)
	require.Len(t, c.ends[1].got, int(n.In+n.Duplicated-n.Lost))
	total := 0
	for _, a := range c.ends[1].got {
		total += len(a.data)
	}
	require.EqualValues(t, n.InBytes+n.MoreBytes-n.LostBytes, total)
	require.True(t, c.wire.Idle())

	e := sim.NewSerialEngine()
	var pool msg.Frames
	w, err := inject.NewWire("Wire", e, hostile, 0, &pool)
	require.NoError(t, err)
	a, b := newStation("A", &pool, false), newStation("B", &pool, false)
	_, err = simcore.Connect("Near", e, simcore.LinkSpec{Latency: 50 * simcore.Nanosecond}, a.port, w.Device())
	require.NoError(t, err)
	_, err = simcore.Connect("Far", e, simcore.LinkSpec{Latency: 20 * simcore.Nanosecond}, w.Peer(), b.port)
	require.NoError(t, err)
	for psn := range uint32(50) {
		require.Nil(t, a.port.SendAt(pool.Copy(requests(psn)[0]), simcore.Now(e)))
	}
	require.NoError(t, e.Run())
	require.EqualValues(t, len(b.got), 50+w.Count(0).Duplicated-w.Count(0).Lost)
}

func TestWireAllocatesNothing(t *testing.T) {
	c := newCable(t, hostile)
	c.ends[0].silent, c.ends[1].silent = true, true
	frames, psn := requests(0, 1, 2, 3), uint32(0)
	step := func() {
		for _, f := range frames {
			psn++
			wire.BTH(f[42:]).SetPSN(psn)
			if c.ends[0].port.SendAt(c.pool.Copy(f), c.Now()) != nil {
				panic("refused")
			}
		}
		if err := c.Run(); err != nil {
			panic(err)
		}
	}
	for psn < 2*inject.DefaultWindow {
		step()
	}
	require.Zero(t, testing.AllocsPerRun(1000, step))
}

func TestWireSpecErrors(t *testing.T) {
	for want, s := range map[string]inject.WireSpec{
		"chances.loss NaN: want 0 or more, less than 1": {
			Chances: inject.Chances{Loss: math.NaN()},
		},
		"chances.headers 1: want": {
			Chances: inject.Chances{Headers: 1},
		},
		"window 100: want a power of two from 64 to 65536, or 0 for 16384": {Window: 100},
		"hold.frames -1: want 1 to 1024": {
			Hold: inject.HoldSpec{Frames: -1},
		},
		"rules[0].do \"\": want one of loss, duplication": {
			Rules: []inject.WireRule{{}},
		},
		"rules[0].direction \"up\": want from_device": {
			Rules: []inject.WireRule{{Do: "loss", Direction: "up"}},
		},
		"rules[0].class \"nak\": want one of request": {
			Rules: []inject.WireRule{{Do: "loss", Class: "nak"}},
		},
		"rules[0].cable -1: want 0": {
			Rules: []inject.WireRule{{Do: "loss", Cable: number(-1)}},
		},
		"rules[0].psn -3: want 0 to 2^40": {
			Rules: []inject.WireRule{{Do: "loss", PSN: -3}},
		},
		"rules[0].class other: it has no qp, opcode, psn or attempt: want ordinal": {
			Rules: []inject.WireRule{{Do: "loss", Class: "other", PSN: 1}},
		},
		"rules[0].ordinal 4: only class other has one": {
			Rules: []inject.WireRule{{Do: "loss", Ordinal: 4}},
		},
		"rules[0].psn: those of class cnp are attempts of PSN 0": {
			Rules: []inject.WireRule{{Do: "loss", Class: "cnp", PSN: 4}},
		},
		"rules[0].hold: only disorder has one": {
			Rules: []inject.WireRule{{Do: "loss", Hold: inject.HoldSpec{Frames: 2}}},
		},
		"rules[0].hold.time_ps -1: want": {
			Rules: []inject.WireRule{{Do: "disorder", Hold: inject.HoldSpec{Time: -1}}},
		},
		"rules[0].part \"tail\": want one of payload, headers, frame": {
			Rules: []inject.WireRule{{Do: "corruption", Part: "tail"}},
		},
		"rules[0].part \"payload\": class other has but frame": {
			Rules: []inject.WireRule{{Do: "corruption", Class: "other", Part: "payload"}},
		},
		"rules[0].part: only corruption has one, or a bit": {
			Rules: []inject.WireRule{{Do: "loss", Bit: number(3)}},
		},
		"rules[0].bit -3: want 0 to": {
			Rules: []inject.WireRule{{Do: "corruption", Bit: number(-3)}},
		},
		"chances.loss 2: want 0 or more, less than 1\nrules[0].do \"x\": want one of loss, duplica": {
			Chances: inject.Chances{Loss: 2}, Rules: []inject.WireRule{{Do: "x"}},
		},
	} {
		_, err := inject.NewWire("Wire", simcore.NewEngine(), s, 0, new(msg.Frames))
		require.ErrorContains(t, err, want)
	}
	_, err := inject.NewWire("Wire", nil, inject.WireSpec{}, 0, nil)
	require.ErrorContains(t, err, "want a scheduler and a pool of frames")
	c := newCable(t, inject.WireSpec{})
	require.Nil(t, c.ends[0].port.Send(new(msg.TLP)))
	require.NoError(t, c.Run())
	require.ErrorContains(t, c.wire.Err(), "a *msg.TLP from the device: want frames")
}

func number(v int) *int { return &v }

// FuzzWire requires that frames of any content keep their length.
func FuzzWire(f *testing.F) {
	f.Add(packet(wire.RCWriteMiddle, 5, 1), uint64(1))
	f.Add(packet(wire.UDSendOnly, 5, 1), uint64(2))
	f.Add([]byte{1}, uint64(3))
	f.Fuzz(func(t *testing.T, frame []byte, seed uint64) {
		s := hostile
		s.Seed = seed
		s.Rules = []inject.WireRule{{Do: inject.WireCorruption, Class: inject.ClassOther},
			{Do: inject.WireDuplication, Attempt: 1}}
		c := newCable(t, s)
		got := c.play(frame, frame)
		for _, g := range got {
			require.Len(t, g, len(frame))
		}
	})
}
