package testbed

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/traffic"
	"nictwin/stack/driver"
)

// cardBed is a bed on a card with a PCIe switch and the Go NIC, ready to run.
type cardBed struct {
	*testing.T
	*Bed
}

func newCardBed(t *testing.T, preset string, change func(*board.SwitchSpec)) *cardBed {
	t.Helper()
	s := Spec{Spec: device.Spec{NIC: device.Model}, LinkCycles: 64, Seed: 3}
	var err error
	s.Switch, err = board.SwitchPreset(preset)
	require.NoError(t, err)
	if change != nil {
		change(s.Switch)
	}
	b, err := New(s)
	require.NoError(t, err)
	over := false
	t.Cleanup(func() { over = true; require.NoError(t, b.Close()) })
	require.NoError(t, b.Begin(func() bool { return over }))
	return &cardBed{t, b}
}

func (b *cardBed) settle() {
	b.Helper()
	require.NoError(b, b.Engine.RunUntil(b.Engine.Now()+b.Cycles(20_000)))
	require.NoError(b, b.Driver.Err())
	require.True(b, b.Idle())
}

// read lets software on a core read n bytes at an address, and returns them.
func (b *cardBed) read(addr uint64, n int) []byte {
	b.Helper()
	p := make([]byte, n)
	b.Bus.Read(addr, p, func(err error) { require.NoError(b, err) })
	b.settle()
	return p
}

func (b *cardBed) key(index, endpoint, n int) *driver.Key {
	b.Helper()
	bus, err := b.Driver.Alloc(endpoint, uint64(n), nicspec.LineBytes)
	require.NoError(b, err)
	k, err := b.Driver.SetKey(driver.KeySpec{Index: index, VA: bus, Bus: bus, Len: uint64(n),
		Rights: dma.Access{Read: true, Write: true}})
	require.NoError(b, err)
	return k
}

// TestInvalidateReachesTheCache copies with invalidation of the source, which the NIC requests from the Arm's cache by
// a message: dirty lines are dropped, and DRAM is never written. After an invalidation of data still in use, software
// reads the stale bytes of DRAM.
func TestInvalidateReachesTheCache(t *testing.T) {
	const n = 8192
	b := newCardBed(t, "bf3", nil)
	arm, from, to := b.key(1, nicspec.EndpointArm, n), b.key(2, nicspec.EndpointHost, n),
		b.key(3, nicspec.EndpointHost, n)
	old, data := nictest.Pattern(n, 1), nictest.Pattern(n, 2)
	require.NoError(t, b.Memory.Write(arm.Bus, old))
	require.NoError(t, b.Memory.Write(from.Bus, data))
	q, err := b.Driver.OpenTx(driver.TxConfig{QueueConfig: driver.QueueConfig{LogSize: 4},
		OnEnd: func(*driver.TxQueue, *driver.TxEnd) {}})
	require.NoError(t, err)
	b.Driver.Enable(false, true)
	copyOf := func(dst, src *driver.Key, drop bool) {
		t.Helper()
		require.NoError(t,
			q.Post(&driver.Copy{Dst: driver.Span{Key: dst, Len: n}, Src: driver.Span{Key: src, Len: n},
				Invalidate: drop}))
		require.NoError(t, q.Ring())
		b.settle()
	}
	cache, dram := b.Memory.Cache(nicspec.EndpointArm), b.Memory.DRAM(nicspec.EndpointArm)
	dropped := func() uint64 { c := cache.Counters(); return c[mem.Device].DroppedDirty }

	copyOf(arm, from, false)
	require.Equal(t, data, b.read(arm.Bus, n))
	require.Zero(t, dropped())
	copyOf(to, arm, true)
	require.EqualValues(t, n/nicspec.LineBytes, dropped())
	require.Equal(t, data, b.read(to.Bus, n))
	require.Zero(t, dram.Counters().WrittenBytes, "no line was written back")

	copyOf(arm, from, false)
	require.NoError(t, q.Post(&driver.Invalidate{Range: driver.Span{Key: arm, Len: n / 2}}))
	require.NoError(t, q.Ring())
	b.settle()
	want := append(append([]byte(nil), old[:n/2]...), data[n/2:]...)
	require.Equal(t, want, b.read(arm.Bus, n), "software reads DRAM where lines were dropped")
	got := make([]byte, n)
	require.NoError(t, b.Memory.Read(arm.Bus, got))
	require.Equal(t, want, got, "and so does the backdoor")
}

// TestWithoutCacheNothingIsStale checks BlueField-2, whose Arm has no cache: what the NIC writes is in DRAM, and an
// invalidation has nothing to drop.
func TestWithoutCacheNothingIsStale(t *testing.T) {
	const n = 1024
	b := newCardBed(t, "bf2", nil)
	require.Nil(t, b.Memory.Cache(nicspec.EndpointArm))
	arm, from := b.key(1, nicspec.EndpointArm, n), b.key(2, nicspec.EndpointHost, n)
	data := nictest.Pattern(n, 2)
	require.NoError(t, b.Memory.Write(from.Bus, data))
	q, err := b.Driver.OpenTx(driver.TxConfig{QueueConfig: driver.QueueConfig{LogSize: 4},
		OnEnd: func(*driver.TxQueue, *driver.TxEnd) {}})
	require.NoError(t, err)
	b.Driver.Enable(false, true)
	require.NoError(t, q.Post(&driver.Copy{Dst: driver.Span{Key: arm, Len: n}, Src: driver.Span{Key: from, Len: n}}))
	require.NoError(t, q.Post(&driver.Invalidate{Range: driver.Span{Key: arm, Len: n}}))
	require.NoError(t, q.Ring())
	b.settle()
	require.Equal(t, data, b.read(arm.Bus, n))
	require.GreaterOrEqual(t, b.Memory.DRAM(nicspec.EndpointArm).Counters().WrittenBytes, uint64(n))
}

// TestPayloadAfterItsEntry checks that the switch keeps order per pair of ports only: a completion entry in Arm memory
// arrives before the payload in host memory that it reports. A flush, as a copier does it, must wait for the payload.
func TestPayloadAfterItsEntry(t *testing.T) {
	const n = 1500
	b := newCardBed(t, "bf3", nil)
	pay, err := b.Driver.Alloc(nicspec.EndpointHost, 4096, nicspec.LineBytes)
	require.NoError(t, err)
	frame := nictest.Pattern(n, 9)
	late, flushed := 0, false
	q, err := b.Driver.OpenRx(driver.RxConfig{
		QueueConfig: driver.QueueConfig{LogSize: 4}, PayBytes: 4096,
		OnFrame: func(_ *driver.RxQueue, f *driver.RxFrame) {
			require.Equal(t, n, f.PayLen)
			at, got := f.Pay, make([]byte, n)
			require.NoError(t, b.Memory.Read(at, got))
			if string(got) != string(frame) {
				late++
			}
			b.Bus.(driver.Flusher).Flush(nicspec.EndpointHost, func(err error) {
				require.NoError(t, err)
				require.NoError(t, b.Memory.Read(at, got))
				require.Equal(t, frame, got, "after the flush")
				flushed = true
			})
		},
	})
	require.NoError(t, err)
	require.NoError(t, b.Driver.SetDefault(driver.ToQueue(0)))
	b.Driver.Enable(true, false)
	require.NoError(t, q.Post(driver.Buffer{Pay: pay}))
	require.NoError(t, q.Ring())
	b.settle()
	pace, err := traffic.ParsePace("line", 0, b.NIC.Period())
	require.NoError(t, err)
	require.NoError(t, b.Players[0].Load(traffic.Track{Pace: pace}))
	b.Players[0].Play(traffic.Frame{Data: frame})
	b.settle()
	require.True(t, flushed)
	require.Equal(t, 1, late, "the entry was there, and the payload was not")
}

// TestCopiersFlush checks that a copier waits until payload in the other memory has arrived, also when many frames
// arrive at once.
func TestCopiersFlush(t *testing.T) {
	const n, frames = 700, 40
	b := newCardBed(t, "bf3", func(s *board.SwitchSpec) { s.Host.PCIe.Latency = 3 * simcore.Microsecond })
	var got [][]byte
	c, err := b.Driver.OpenCopier(driver.RxConfig{QueueConfig: driver.QueueConfig{LogSize: 6}, PayBytes: 1024},
		func(_ *driver.Copier, _ nicspec.RxCqe, _, pay []byte) { got = append(got, append([]byte(nil), pay...)) })
	require.NoError(t, err)
	require.NoError(t, b.Driver.SetDefault(driver.ToQueue(0)))
	b.Driver.Enable(true, false)
	for range frames {
		at, err := b.Driver.Alloc(nicspec.EndpointHost, 1024, nicspec.LineBytes)
		require.NoError(t, err)
		require.NoError(t, c.Fill(driver.Buffer{Pay: at}))
	}
	b.settle()
	var want [][]byte
	for i := range frames {
		want = append(want, nictest.Pattern(n, uint64(i)))
		b.Players[0].Play(traffic.Frame{Data: want[i]})
	}
	b.settle()
	require.Len(t, got, frames)
	for i := range want {
		require.True(t, bytes.Equal(want[i], got[i]), "frame %d", i)
	}
}
