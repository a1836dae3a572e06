package cpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
)

// TestManyStoresAreForwarded checks that loads see their core's stores while there are many, as when software fills a
// table before the traffic: 65,536 loads behind 131,072 stores, which take minutes if each searches all of them.
func TestManyStoresAreForwarded(t *testing.T) {
	b := newBench(t, simcore.NewEngine(), plain(), 50*ns)
	const accesses, from, step = 1 << 16, 0x1000, 8
	want, got := make([]byte, accesses*step+8), make([]byte, 8)
	store := func(at int, x ...byte) {
		copy(want[at:], x)
		must(b.core.Store(from+uint64(at), x))
	}
	for i := range accesses {
		store(i*step, byte(i), byte(i>>8), 3, 4)
	}
	for i := range accesses {
		store(i*step+2, 7, byte(i), byte(i>>4))
	}
	for i := range accesses {
		at := i*step + i%step
		must(b.core.Load(from+uint64(at), got))
		require.Equal(t, want[at:at+len(got)], got)
	}
	b.run()
	require.Equal(t, want, b.bytes(from, len(want)))
	store(1, 77)
	must(b.core.Load(from, got)) // few again
	require.Equal(t, want[:len(got)], got)
	b.run()
}
