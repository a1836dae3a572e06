package rtlbridge

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/protocol"
)

// heldOf plays frames through the FIFO device with both streams stalled, and returns the held intervals of
// each stream. It checks them against the transactions: no beat is transferred in a held cycle, beats and held
// cycles fit into a transaction's cycles, and an input is not held between transactions.
func heldOf(t *testing.T, o loopOptions) (pieces []heldTime, digest uint64) {
	t.Helper()
	held := [2]map[uint64]bool{{}, {}}
	next := [2]uint64{}
	o.latency, o.stall, o.first, o.total, o.rate = 800_000, 40, 40, 80, simcore.Gbps(200)
	o.held = func(stream int, first, last uint64) {
		require.LessOrEqual(t, first, last)
		require.GreaterOrEqual(t, first, next[stream], "cycles come in order, and once")
		next[stream] = last + 1
		pieces = append(pieces, heldTime{first<<1 | uint64(stream), last})
		for x := first; x <= last; x++ {
			held[stream][x] = true
		}
	}
	gaps, waits, open := 0, 0, [2]uint64{}
	o.observe = func(e Event) {
		require.False(t, held[e.Stream][e.Last], "cycle %d, in which a beat was taken", e.Last)
		require.LessOrEqual(t, max(next[0], next[1]), e.Last, "held cycles reported before their time")
		if e.Kind == protocol.EventIn && e.Flags&protocol.InEnd == 0 {
			return
		}
		require.False(t, held[e.Stream][e.First])
		n := uint64(0)
		for x := e.First; x <= e.Last; x++ {
			if held[e.Stream][x] {
				n++
			}
		}
		beats := uint64(size(int(e.Ordinal))+63) / 64
		// An input's beat may also wait for tready; here only while the FIFO is full.
		if e.Kind == protocol.EventIn {
			require.GreaterOrEqual(t, e.Last-e.First+1, beats+n)
			gaps += int(n)
		} else {
			require.GreaterOrEqual(t, e.Last-e.First+1, beats+n)
			waits += int(n)
		}
		for x := open[e.Stream]; x < e.First && e.Kind == protocol.EventIn; x++ {
			require.False(t, held[e.Stream][x], "between transactions nothing holds an input")
		}
		open[e.Stream] = e.Last + 1
	}
	r, err := runLoop(t, fifo(t, build.VariantSpeed), o)
	require.NoError(t, err)
	require.Greater(t, gaps, 100)
	require.Greater(t, waits, 100)
	return pieces, r.digest
}

// TestHeldTimes checks that held intervals do not depend on quantum or mode, and are not part of the
// digest.
func TestHeldTimes(t *testing.T) {
	want, digest := heldOf(t, loopOptions{comp: CompSpec{Mode: Serial, Quantum: 1}})
	for _, x := range []CompSpec{{Mode: Serial, Quantum: 300}, {Quantum: 7}, {Quantum: 64}, {Quantum: 160}} {
		got, d := heldOf(t, loopOptions{comp: x})
		require.Equal(t, want, got, "%v, quantum %d", x.Mode, x.Quantum)
		require.Equal(t, digest, d)
	}
	plain, err := runLoop(t, fifo(t, build.VariantSpeed), loopOptions{latency: 800_000, stall: 40, first: 40, total: 80,
		rate: simcore.Gbps(200)})
	require.NoError(t, err)
	require.Equal(t, digest, plain.digest)
}

// TestHeldOutputIsExact checks that an output with a beat in every cycle is reported as held in exactly the
// stalled cycles.
func TestHeldOutputIsExact(t *testing.T) {
	const frames, beats = 30, 20
	c := launch(t, fifo(t, build.VariantSpeed), LaunchOptions{})
	for _, quantum := range []uint32{3, 64, 5000} {
		s := c.NewStart(11)
		s.Streams[1].StallPercent, s.Streams[1].BurstLog2 = 50, 3
		require.NoError(t, c.Start(s))
		for i := range frames {
			require.NoError(t, c.Add(0, uint64(i*4*beats), make([]byte, 4), frame(64*beats, i)))
		}
		held, taken := map[uint64]bool{}, 0
		for at := uint32(0); at < 5000; at += quantum {
			require.NoError(t, c.SendRun(quantum))
			var rec protocol.Record
			r, err := c.Recv()
			require.NoError(t, err)
			for ok := true; ok; {
				ok, err = c.Next(r, &rec)
				require.NoError(t, err)
				switch {
				case ok && rec.Kind == protocol.EventHeld && rec.Stream == 1:
					for x := rec.First; x <= rec.Last; x++ {
						held[x] = true
					}
				case ok && rec.Kind == protocol.EventOut:
					n := beats // the FIFO never runs empty within a frame, so this is the number of beats
					for x := rec.First; x <= rec.Last; x++ {
						n += int(oneIf(held[x]))
					}
					require.EqualValues(t, rec.Last-rec.First+1, n)
					taken++
				}
			}
		}
		require.EqualValues(t, frames, taken)
	}
}

// TestHeldTimesThatCannotBe checks that impossible held intervals end the run with a protocol error.
func TestHeldTimesThatCannotBe(t *testing.T) {
	held := func(stream uint8, first, last uint64) protocol.Record {
		return protocol.Record{Kind: protocol.EventHeld, Stream: stream, First: first, Last: last}
	}
	out := protocol.Record{Kind: protocol.EventOut, Stream: 2, Side: make([]byte, 2), Data: make([]byte, 8), First: 20,
		Last: 40}
	for _, x := range []struct {
		name   string
		frames [][]protocol.Record // records of each quantum of 64 cycles
		want   string
	}{
		{"reversed", [][]protocol.Record{{held(2, 20, 10)}},
			"record 0 of quantum 0: RAN frame refused: value: held time of cycles 20 to 10"},
		{"of the future", [][]protocol.Record{{held(2, 20, 64)}},
			"held time of cycles 20 to 64: must end in cycle 0 to 63"},
		{"for ever", [][]protocol.Record{{held(2, 20, 1<<64-1)}},
			"record 0 of quantum 0: RAN frame refused: value: held time of cycles 20 to "},
		{"after a later record", [][]protocol.Record{{out, held(2, 3, 5)}},
			"held time of cycles 3 to 5: must end in cycle 39 to 63"},
		{"overlapping", [][]protocol.Record{{held(2, 10, 20), held(2, 20, 30)}},
			"a held time of stream 2, cycles 20 to 30: must begin in cycle 22 or later"},
		{"in pieces", [][]protocol.Record{{held(2, 10, 20), held(2, 21, 30)}},
			"a held time of stream 2, cycles 21 to 30: must begin in cycle 22 or later"},
		{"of the quantum before", [][]protocol.Record{{}, {held(1, 60, 70)}},
			"a held time of stream 1, cycles 60 to 70: must begin in cycle 64 or later"},
		{"told twice", [][]protocol.Record{{held(1, 60, 63)}, {held(1, 63, 70)}}, "record 0 of quantum 1"},
		{"no such stream", [][]protocol.Record{{held(4, 1, 2)}}, "stream 4 of 4"},
		{"as it is", [][]protocol.Record{{held(0, 1, 1), held(2, 0, 20), held(0, 10, 20), held(2, 22, 63)},
			{held(2, 64, 64), held(1, 90, 127)}, {held(1, 129, 130)}}, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			conn, err := Dial(fakeDevice(t, answerRuns(func(c net.Conn, i, s uint64, n uint32) {
				r := goodRan(i, s, n)
				r.Observed[0] = protocol.Observed{Value: 1, LastNonzero: s + uint64(n)}
				c.Write(appendRan(nil, r, x.frames[i]))
			})), DialOptions{})
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, conn.Start(conn.NewStart(1)))
			for range x.frames {
				if err == nil {
					err = oneQuantum(conn)
				}
			}
			if x.want == "" {
				require.NoError(t, err)
				return
			}
			var infra *protocol.InfraError
			require.ErrorAs(t, err, &infra)
			require.ErrorContains(t, err, x.want)
		})
	}
}
