package windows

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Before returns the value that a key had before the writes of the last VisibleCycles, however many there were. An
// entry may see that value, but none that was replaced earlier.
func TestKeys(t *testing.T) {
	const end = 100 + nicspec.VisibleCycles
	key := func(n uint64) core.Key { return core.Key{Length: n} }
	k := NewKeys(2)
	require.True(t, k.Sure(0))
	k.Written(1, 100, key(1))
	require.False(t, k.Sure(end))
	require.True(t, k.Sure(end+1))
	require.Equal(t, core.KeyTable{{}, {}}, k.Before(end))
	k.Written(1, end, key(2))
	require.Equal(t, core.KeyTable{{}, {}}, k.Before(end), "the first write may not have taken effect either")
	require.Equal(t, key(2), k.Before(end + nicspec.VisibleCycles + 1)[1])
	k.Written(0, 1000, key(3))
	k.Close(1010)
	require.True(t, k.Sure(1011))
}
