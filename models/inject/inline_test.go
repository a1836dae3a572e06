package inject_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// Decorators without faults forward all messages unchanged, in order and without adding time.
func TestDecoratorsAreTransparent(t *testing.T) {
	b := newBench(t, inject.DelaySpec{})
	want := make([]byte, 300)
	for i := range want {
		want[i] = byte(i * 3)
	}
	require.NoError(t, b.mem.Write(0x1000, want))
	b.write(0x1000, 1, 2, 3, 4)
	b.read(1, 0x1000, 300)
	b.read(2, 0x2000, 1)
	require.NoError(t, b.root.MMIO(nicspec.RequesterArm).Write32(0x10, 7))
	require.NoError(t, b.Run())
	copy(want, []byte{1, 2, 3, 4})
	require.Len(t, b.dev.got, 4)
	require.Equal(t, []byte{7, 0, 0, 0}, b.dev.got[0].Data)
	require.Equal(t, want, append(b.dev.got[1].Data, b.dev.got[2].Data...))
	const ns = simcore.Nanosecond
	require.Equal(t, []simcore.Ps{100 * ns, 500 * ns, 500 * ns, 500 * ns}, b.dev.at,
		"the link's latency, twice, and the root's")
	require.Equal(t, []inject.Direction{1, 0, 0, 0, 1, 1, 1}, b.tapped)
	require.Zero(t, b.pool.Live())
}

// A device that receives nothing stops the root behind the decorators, and no message is lost.
func TestBackPressureGoesThrough(t *testing.T) {
	b := newBench(t, inject.DelaySpec{})
	b.dev.full = true
	const writes = 5000
	for i := range writes {
		require.NoError(t, b.root.MMIO(nicspec.RequesterArm).Write32(uint32(4*i), uint32(i)))
	}
	require.NoError(t, b.Run())
	require.False(t, b.root.Idle(), "the ports between hold less than that")
	b.dev.full = false
	b.dev.NotifyRecv(b.CurrentTime(), b.dev.port)
	require.NoError(t, b.Run())
	require.Len(t, b.dev.got, writes)
	for i, p := range b.dev.got {
		require.Equal(t, []byte{byte(i), byte(i >> 8), 0, 0}, p.Data)
	}
}

func TestGate(t *testing.T) {
	b := newBench(t, inject.DelaySpec{})
	b.read(1, 0x1000, 8)
	require.NoError(t, b.RunUntil(150*simcore.Nanosecond)) // the read has passed the gate
	b.gate.Close()
	b.write(0x2000, 9)
	b.read(2, 0x2000, 1)
	require.NoError(t, b.Run())
	require.Len(t, b.dev.got, 1, "answers to what passed still come")
	got := make([]byte, 1)
	require.NoError(t, b.mem.Read(0x2000, got))
	require.Zero(t, got[0])
	b.gate.Open()
	require.NoError(t, b.Run())
	require.Len(t, b.dev.got, 2)
	require.EqualValues(t, 9, b.dev.got[1].Data[0])
}
