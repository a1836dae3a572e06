package root_test

import (
	"nictwin/models/fabric/root"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"testing"

	"github.com/stretchr/testify/require"
)

// A write must keep its TLP until memory has taken it.
func TestWritesTakeTime(t *testing.T) {
	b := delayed(t, root.DefaultSpec(), inject.DelaySpec{Latency: simcore.Microsecond})
	for i := range 4 {
		p := b.dev.pool.Get()
		own := p.Own(8)
		for k := range own {
			own[k] = byte(16*i + k)
		}
		require.NoError(t, p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterNic}, 0x2000+uint64(i)*4, own))
		require.Nil(t, b.dev.port.Send(p))
	}
	b.dev.read(1, 0x2000, 20) // must see all four writes
	require.NoError(t, b.RunUntil(500*simcore.Nanosecond))
	require.False(t, b.root.Idle())
	require.NoError(t, b.Run())
	require.True(t, b.root.Idle())
	want := []byte{0, 1, 2, 3, 16, 17, 18, 19, 32, 33, 34, 35, 48, 49, 50, 51, 52, 53, 54, 55}
	require.Equal(t, want, b.dev.data[1])
}

// When software is notified of a completion or a message, memory must contain all that the device
// wrote before it; the notice must not wait for later writes.
func TestNoticesComeAfterWrites(t *testing.T) {
	const slow = simcore.Microsecond
	b := delayed(t, root.DefaultSpec(), inject.DelaySpec{Latency: slow})
	write := func(v byte) {
		p := b.dev.pool.Get()
		own := p.Own(1)
		own[0] = v
		require.NoError(t, p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterNic}, 0x2000, own))
		p.Depart = b.Now()
		require.Nil(t, b.dev.port.Send(p))
	}
	memory := func() byte {
		var is [1]byte
		require.NoError(t, b.mem.Read(0x2000, is[:]))
		return is[0]
	}
	var notified []byte
	var times []simcore.Ps
	notify := func() { notified, times = append(notified, memory()), append(times, b.Now()) }
	b.root.OnMessage = func(*tlp.Header, []byte) { notify() }
	write(1)
	require.NoError(t, b.arm.Read(0x10, 4, func(uint64, error) { notify() }))
	require.NoError(t, b.RunUntil(slow/2)) // the completion has arrived
	require.Empty(t, notified)
	require.False(t, b.root.Idle())
	write(2)
	p := b.dev.pool.Get()
	require.NoError(t, p.SetVendor(tlp.Origin{RequesterID: nicspec.RequesterNic},
		tlp.Vendor{Type: 1, Routing: tlp.RouteByID,
			TargetID: nicspec.RequesterArm, VendorID: nicspec.InvalidateVendor}, []byte{1, 2, 3, 4}))
	p.Depart = b.Now()
	require.Nil(t, b.dev.port.Send(p))
	require.NoError(t, b.Run())
	require.Equal(t, []byte{1, 2}, notified)
	require.Less(t, times[0]+slow/4, times[1])
	require.NoError(t, b.arm.Read(0x10, 4, func(uint64, error) { notify() })) // no write is in flight
	require.NoError(t, b.Run())
	require.Equal(t, []byte{1, 2, 2}, notified)
	require.True(t, b.root.Idle())
}

func TestWritesAreStoredAndWatched(t *testing.T) {
	b := newBench(t, root.DefaultSpec())
	var seen []uint64
	_, err := b.mem.Watch(0x2000, 64, func(addr uint64, n int) { seen = append(seen, addr, uint64(n)) })
	require.NoError(t, err)
	for _, a := range []uint64{0x2001, 0x3000, mem.Bus(1, 1<<40), mem.Bus(7, 0)} {
		p := new(msg.TLP)
		require.NoError(t, p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterNic}, a, []byte{1, 2, 3, 4, 5}))
		require.Nil(t, b.dev.port.Send(p))
	}
	require.NoError(t, b.Run())
	got := make([]byte, 6)
	require.NoError(t, b.mem.Read(0x2000, got))
	require.Equal(t, []byte{0, 1, 2, 3, 4, 5}, got)
	require.Equal(t, []uint64{0x2001, 5}, seen)
	require.Equal(t, 2, b.mem.Stray)
}
