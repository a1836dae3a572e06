package offload_test

import (
	"errors"
	"math/rand"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/offload"
	"nictwin/stack/offload/handlers"
)

// TestList checks that a list is walked to the key or to its end, but no further than requested, and that the walk of a
// circular list ends.
func TestList(t *testing.T) {
	w := newWorld(t, 1)
	e := newEngine(t, w, nil)
	require.NoError(t, e.RegisterOpcode(handlers.CodeList, 7, handlers.List))
	const n = 10
	for i := range uint64(n) {
		next := hostAt + (i+1)*128
		if i == n-1 {
			next = 0
		}
		handlers.EncodeNode(w.host[i*128:], 100+i, []byte{byte(i)}, next)
	}
	walk := func(key uint64, hops uint32) handlers.ListResult {
		b := make([]byte, handlers.ListRequestBytes)
		handlers.EncodeList(b, 5, hostAt, key, hops)
		freed := w.ask(e, 0, b)
		w.run(e)
		require.True(t, *freed)
		r := w.last()
		require.Equal(t, handlers.Response{Code: handlers.CodeList, Number: 5, Data: r.Data}, r)
		x, err := handlers.DecodeList(r.Data)
		require.NoError(t, err)
		return x
	}
	x := walk(106, 100)
	require.EqualValues(t, 7, x.Hops)
	require.EqualValues(t, 6, x.Value[0])
	require.Equal(t, handlers.ListResult{Hops: n}, walk(5, 100))
	require.Equal(t, handlers.ListResult{Hops: 3}, walk(106, 3))
	handlers.EncodeNode(w.host[128*(n-1):], 0, nil, hostAt)
	require.EqualValues(t, handlers.MaxHops, walk(5, 1<<20).Hops)
	faults, _ := e.Faults()
	require.Empty(t, faults)
}

// TestBatch checks that a batched READ has all its DMAs in flight at once.
func TestBatch(t *testing.T) {
	w := newWorld(t, 2)
	e := newEngine(t, w, nil)
	require.NoError(t, e.RegisterOpcode(handlers.CodeBatch, 7, handlers.Batch))
	for i := range w.host {
		w.host[i] = byte(i >> 6)
	}
	var addrs []uint64
	for i := range uint64(150) {
		addrs = append(addrs, hostAt+(i*37%500)*64)
	}
	b := make([]byte, handlers.BatchRequestBytes(len(addrs)))
	handlers.EncodeBatch(b, 9, addrs)
	w.ask(e, 0, b)
	w.run(e)
	r := w.last()
	require.Equal(t, offload.OK, r.Status)
	for i := range addrs {
		require.Equal(t, byte(uint64(i)*37%500), r.Data[64*i])
	}
	require.EqualValues(t, 150, e.Stats().DMAs)
	require.Less(t, w.turn, 200, "they were under way together")
}

// TestMisbehaviour checks that whatever a handler does, its client gets one response, an error names the handler, and
// other handlers continue.
func TestMisbehaviour(t *testing.T) {
	arg := func(c *offload.Context) uint64 { at, _ := c.Args(); return at }
	for _, c := range []struct {
		name   string
		h      offload.Handler
		status offload.Status
		says   string
	}{
		{"no response", func(*offload.Context) error { return nil }, offload.Misbehaved, "returns without a response"},
		{"its own error", func(*offload.Context) error { return errors.New("no") }, offload.Failed, ""},
		{"panic", func(*offload.Context) error { panic("oh") }, offload.Misbehaved, "panics: oh"},
		{"host address", func(c *offload.Context) error {
			c.SubmitDMA(offload.FromHost, hostAt+1<<16-63, c.Alloc(64), 64)
			return nil
		}, offload.Misbehaved, "want bytes of a region that its queue pair has"},
		{"arm address", func(c *offload.Context) error { c.SubmitDMA(offload.FromHost, hostAt, armAt, 64); return nil },
			offload.Misbehaved, "which is not its memory"},
		{"writes its request", func(c *offload.Context) error { c.Store(arg(c), []byte{1}); return nil },
			offload.Misbehaved, "stores 1 B"},
		{"loads elsewhere", func(c *offload.Context) error { c.Load(armAt, make([]byte, 1)); return nil },
			offload.Misbehaved, "loads 1 B"},
		{"too much memory", func(c *offload.Context) error { c.Alloc(40 << 10); c.Alloc(40 << 10); return nil },
			offload.Misbehaved, "asks for 40960 B"},
		{"never ends", func(c *offload.Context) error {
			for {
				c.Compute(1000)
			}
		}, offload.Misbehaved, "has used up its 100000000 cycles"},
		{"leaves a DMA", func(c *offload.Context) error {
			r := c.AllocResp(64)
			c.SubmitDMA(offload.FromHost, hostAt, r, 64)
			c.SubmitResp(r, 64)
			return nil
		}, offload.Misbehaved, "returns with 1 DMAs in flight"},
		{"too many DMAs", func(c *offload.Context) error {
			at := c.Alloc(64)
			for {
				c.SubmitDMA(offload.FromHost, hostAt, at, 1)
			}
		}, offload.Misbehaved, "has 64 DMAs in flight"},
		{"two responses", func(c *offload.Context) error { c.AllocResp(1); c.AllocResp(1); return nil },
			offload.Misbehaved, "allocates a second response"},
		{"submits twice", func(c *offload.Context) error {
			r := c.AllocResp(1)
			c.SubmitResp(r, 1)
			c.SubmitResp(r, 1)
			return nil
		}, offload.Misbehaved, "submits a second response"},
		{"a response of nobody", func(c *offload.Context) error { c.SubmitResp(armAt, 1); return nil },
			offload.Misbehaved, "which it did not allocate for a response"},
		{"too long a response", func(c *offload.Context) error { c.SubmitResp(c.AllocResp(8), 9); return nil },
			offload.Misbehaved, "a response of 9 B"},
		{"a DMA of nobody", func(c *offload.Context) error { return c.WaitDMA(0) }, offload.Misbehaved,
			"waits for DMA 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 3)
			e := newEngine(t, w, nil)
			require.NoError(t, e.RegisterOpcode(1, 7, c.h))
			require.NoError(t,
				e.RegisterOpcode(2, 7, func(c *offload.Context) error { c.SubmitResp(c.AllocResp(4), 4); return nil }))
			var freed []*bool
			for i := range 20 {
				freed = append(freed, w.ask(e, i, request(uint16(1+i%2), uint32(i))))
			}
			w.run(e)
			require.Len(t, w.sent, 20)
			got := map[uint32]offload.Status{}
			for _, b := range w.sent {
				r, err := handlers.Decode(b)
				require.NoError(t, err)
				got[r.Number] = r.Status
			}
			for i := range uint32(20) {
				want := offload.OK
				if i%2 == 0 {
					want = c.status
				}
				require.Equal(t, want, got[i])
				require.True(t, *freed[i])
			}
			faults, dropped := e.Faults()
			require.Zero(t, dropped)
			if c.says == "" {
				require.Empty(t, faults)
			} else {
				require.Len(t, faults, 10)
				require.ErrorContains(t, &faults[0], c.says)
				require.ErrorContains(t, &faults[0], "handler of code 0x1, queue pair 0x7, request 0")
			}
		})
	}
}

// TestEdges checks malformed requests, failing DMAs, and a full queue.
func TestEdges(t *testing.T) {
	w := newWorld(t, 4)
	e := newEngine(t, w, func(s *offload.Spec) { s.Queue = 2 })
	require.NoError(t, e.RegisterOpcode(handlers.CodeList, 7, handlers.List))
	require.ErrorContains(t, e.RegisterOpcode(handlers.CodeList, 7, handlers.List), "has a handler")
	require.ErrorContains(t, e.RegisterOpcode(1, 7, nil), "no handler")
	require.ErrorContains(t, e.RegisterRegion(7, ^uint64(0), 2), "below 2^64")
	w.ask(e, 0, []byte{1, 2, 3})
	w.ask(e, 1, request(99, 1))
	require.False(t, e.Take(offload.Request{QP: 7}), "full")
	w.run(e)
	var got []offload.Status
	for _, b := range w.sent {
		r, err := handlers.Decode(b)
		require.NoError(t, err)
		got = append(got, r.Status)
	}
	require.ElementsMatch(t, []offload.Status{offload.Malformed, offload.Unknown}, got)
	w.refuse = true
	b := make([]byte, handlers.ListRequestBytes)
	handlers.EncodeList(b, 5, hostAt, 1, 10)
	w.ask(e, 0, b)
	w.run(e)
	require.Equal(t, offload.Failed, w.last().Status)
	_, err := offload.New(offload.Spec{}, w, 0, 0)
	for _, says := range []string{"queue 0", "coroutines 0", "memory 0", "dmas 0", "budget 0", "call_cycles 0",
		"poll_cycles 0"} {
		require.ErrorContains(t, err, says)
	}
}

// TestRandomHandlers runs random handlers over DMAs of any latency. Every request must be answered once, everything be
// freed, no goroutine remain, and the same seed give the same responses in the same order.
func TestRandomHandlers(t *testing.T) {
	play := func(seed int64) [][]byte {
		w := newWorld(t, seed)
		e := newEngine(t, w, func(s *offload.Spec) { s.Coroutines = 4 })
		draw := rand.New(rand.NewSource(seed + 1000))
		require.NoError(t, e.RegisterOpcode(1, 7, func(c *offload.Context) error {
			at := c.AllocResp(256)
			var ids []int
			for range draw.Intn(20) {
				switch draw.Intn(4) {
				case 0:
					ids = append(ids, c.SubmitDMA(offload.Op(draw.Intn(2)), hostAt+uint64(draw.Intn(1<<16+10)),
						at+uint64(draw.Intn(200)), 1+draw.Intn(100)))
				case 1:
					if len(ids) > 0 {
						if err := c.WaitDMA(ids[draw.Intn(len(ids))]); err != nil {
							return err
						}
					}
				case 2:
					c.Alloc(draw.Intn(20 << 10))
				default:
					c.Compute(int64(draw.Intn(1000)))
				}
			}
			for _, id := range ids {
				if draw.Intn(10) > 0 {
					_ = c.WaitDMA(id)
				}
			}
			c.SubmitResp(at, draw.Intn(256))
			return nil
		}))
		for i := range 30 {
			w.ask(e, i, request(1, uint32(i)))
		}
		w.run(e)
		require.Len(t, w.sent, 30)
		seen := map[uint32]bool{}
		for _, b := range w.sent {
			r, err := handlers.Decode(b)
			require.NoError(t, err)
			require.False(t, seen[r.Number])
			seen[r.Number] = true
		}
		return w.sent
	}
	before := runtime.NumGoroutine()
	for seed := range int64(200) {
		require.Equal(t, play(seed), play(seed))
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before+2)
	w := newWorld(t, 1)
	e := newEngine(t, w, nil)
	require.NoError(t, e.RegisterOpcode(1, 7, func(c *offload.Context) error {
		return c.WaitDMA(c.SubmitDMA(offload.FromHost, hostAt, c.Alloc(64), 64))
	}))
	w.ask(e, 0, request(1, 1))
	require.True(t, e.Step())
	e.Close()
	require.LessOrEqual(t, runtime.NumGoroutine(), before+2, "a handler that waits is ended, too")
}

// FuzzRequest checks that any request is answered.
func FuzzRequest(f *testing.F) {
	b := make([]byte, handlers.ListRequestBytes)
	handlers.EncodeList(b, 5, hostAt, 1, 10)
	f.Add(b)
	b = make([]byte, handlers.BatchRequestBytes(3))
	handlers.EncodeBatch(b, 5, []uint64{hostAt, hostAt + 64, 1})
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 8192 {
			return
		}
		w := newWorld(t, 1)
		e := newEngine(t, w, nil)
		require.NoError(t, e.RegisterOpcode(handlers.CodeList, 7, handlers.List))
		require.NoError(t, e.RegisterOpcode(handlers.CodeBatch, 7, handlers.Batch))
		w.ask(e, 0, b)
		w.run(e)
		require.Len(t, w.sent, 1)
	})
}

// BenchmarkRequest measures a request whose handler answers at once.
func BenchmarkRequest(b *testing.B) {
	w := newWorld(nil, 1)
	s := offload.DefaultSpec()
	e, err := offload.New(s, w, armAt, 1<<19)
	if err != nil {
		b.Fatal(err)
	}
	_ = e.RegisterOpcode(2, 7, func(c *offload.Context) error { c.SubmitResp(c.AllocResp(4), 4); return nil })
	copy(w.arm[1<<19:], request(2, 1))
	b.ReportAllocs()
	for range b.N {
		e.Take(offload.Request{QP: 7, Addr: 1 << 19, N: 8})
		e.Step()
		for _, x := range w.pendingEvents {
			x.f()
		}
		w.pendingEvents, w.sent = w.pendingEvents[:0], w.sent[:0]
	}
}
