package path

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

// TestHub checks that a packet of the shared ring belongs to the first flow whose rule matches it.
func TestHub(t *testing.T) {
	h := hub{table: map[hubKey]int{}, memory: 1 << 20}
	flow := func(address byte, port, source uint16) *path {
		p := &path{}
		v, m := &p.c.Match.Value, &p.c.Match.Mask
		v.Dmac[5], v.DstAddr[3], v.DstPort, v.SrcPort = 1, address, port, source
		if source != 0 {
			m.SrcPort = 0xffff
		}
		h.add(p)
		return p
	}
	key := func(address byte, port, source uint16) hubKey {
		return hubKey{[6]byte{5: 1}, [16]byte{3: address}, port, source}
	}
	a, b, c, d := flow(1, 4789, 50), flow(1, 4789, 51), flow(1, 7000, 0), flow(2, 7000, 0)
	again := flow(1, 7000, 60) // c matches, too, and comes first
	for k, want := range map[hubKey]*path{
		key(1, 4789, 50): a, key(1, 4789, 51): b, key(1, 4789, 52): nil, key(1, 7000, 1): c, key(2, 7000, 1): d,
		key(3, 7000, 1): nil, key(1, 7001, 1): nil, key(1, 7000, 60): c,
	} {
		require.Same(t, want, h.find(k), "%+v", k)
		require.LessOrEqual(t, h.line(&k), h.memory+(hubSlots-1)*nicspec.LineBytes)
		require.Zero(t, h.line(&k)%nicspec.LineBytes)
	}
	require.NotSame(t, again, h.find(key(1, 7000, 60)))
	other := key(1, 7000, 1)
	other.mac[0] = 2
	require.Nil(t, h.find(other))
}
