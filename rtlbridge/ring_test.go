package rtlbridge

import (
	"math/rand"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/protocol"
)

// TestRing moves bytes through one ring in pieces of all sizes and around its end.
func TestRing(t *testing.T) {
	s, f, err := newRings()
	require.NoError(t, err)
	defer f.Close()
	w, r := ringAt(s.mem, 0), ringAt(s.mem, 0)
	rnd := rand.New(rand.NewSource(1))
	var wrote, read byte
	total := 0
	for total < 5*ringBytes {
		b := make([]byte, rnd.Intn(100_000))
		for i := range b {
			b[i] = wrote + byte(i)
		}
		n, err := w.put(b)
		require.NoError(t, err)
		wrote += byte(n)
		g := make([]byte, 1+rnd.Intn(100_000))
		n, err = r.get(g)
		require.NoError(t, err)
		for _, v := range g[:n] {
			require.Equal(t, read, v)
			read++
		}
		total += n
	}
	n, err := w.put(make([]byte, 2*ringBytes))
	require.NoError(t, err)
	require.LessOrEqual(t, n, ringBytes)
	n, err = w.put([]byte{1})
	require.NoError(t, err)
	require.Zero(t, n, "a full ring takes nothing")

	atomic.StoreUint64(r.head, r.mine+ringBytes+1)
	r.theirs = r.mine
	_, err = r.get(make([]byte, 8))
	require.ErrorContains(t, err, "corrupt")
	atomic.StoreUint64(w.tail, w.mine+1)
	_, err = w.put([]byte{1})
	require.ErrorContains(t, err, "corrupt")

	atomic.StoreUint32(w.readerAsleep, 1)
	require.True(t, wake(w.readerAsleep))
	require.False(t, wake(w.readerAsleep), "once per sleep")
	require.NoError(t, s.close())
}

// TestLargeFrames checks that quanta whose inputs and outputs exceed every buffer block neither side.
func TestLargeFrames(t *testing.T) {
	for _, socket := range []bool{false, true} {
		c := launch(t, fifo(t, build.VariantSpeed), LaunchOptions{Socket: socket})
		require.NoError(t, c.Start(c.NewStart(1)))
		const frames, size = 1000, 9000
		data, outs := frame(size, 1), 0
		var rec protocol.Record
		receive := func() {
			for more := true; more; {
				r, err := c.Recv()
				require.NoError(t, err)
				more = r.Flags&protocol.RanMore != 0
				for ok := true; ok; {
					ok, err = c.Next(r, &rec)
					require.NoError(t, err)
					if ok && rec.Kind == protocol.EventOut {
						require.Equal(t, size, len(rec.Data))
						outs++
					}
				}
			}
		}
		for q := range 3 {
			for range frames {
				require.NoError(t, c.Add(0, uint64(q*200_000), make([]byte, 4), data))
			}
			require.NoError(t, c.SendRun(200_000))
			if q > 0 {
				receive()
			}
		}
		receive()
		require.Equal(t, 3*frames, outs)
		require.NoError(t, c.Close())
	}
}
