package run

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/models/sim/specfile"
	"nictwin/stack/cc"
)

// Quantities of scenarios and boards may have units.
func TestUnits(t *testing.T) {
	list, err := Parse("f.yaml", []byte(`name: x
description: y
board:
  preset: bf3-cores-pair
  network: {kind: back_to_back, latency: 25ns}
stacks:
- {kind: flexins, flexins: {mtu: 8KiB, data: {payload_bytes: 8320, cc: {kind: fixed, rate: 2Gbps}}}}
workload: {sizes: [64KiB]}
faults: {slow_memory: {latency: 0.5us}, pcie: [{server: 0, of: host, kind: none, delay: 2us}]}
expect: {within: 1s}
limits: {quiet: 30ms}
sweep: {size: [64KiB, 1024]}
`))
	require.NoError(t, err)
	c := list[0]
	require.Equal(t, "x:size=65536", c.Name)
	require.Equal(t, 25*simcore.Nanosecond, c.Board.Network.Latency)
	require.EqualValues(t, 8192, c.Stacks[0].FlexiNS.MTU)
	require.Equal(t, cc.Bps(2_000_000_000), c.Stacks[0].FlexiNS.Data.CC.Rate)
	require.Equal(t, []int{65536}, c.Workload.Sizes)
	require.Equal(t, 500*simcore.Nanosecond, c.Faults.SlowMemory.Latency)
	require.Equal(t, 2*simcore.Microsecond, c.Faults.PCIe[0].Delay)
	require.Equal(t, simcore.Second, *c.Expect.Within)
	require.Equal(t, 30*simcore.Millisecond, *c.Limits.Quiet)
	require.Empty(t, c.OldNames())

	s := c.Alone()
	text, err := s.YAML()
	require.NoError(t, err)
	again, err := Parse("again.yaml", text)
	require.NoError(t, err)
	require.Empty(t, again[0].OldNames(), "%s", text)
	require.Equal(t, s, again[0].Alone())
}

// Old names, which have the unit in them (within_ps), are reported with the new name. Boards keep such names.
func TestOldNames(t *testing.T) {
	list, err := Parse("f.yaml", []byte(`name: x
description: y
board:
  preset: bf3-cores-pair
  network: {kind: back_to_back, latency_ps: 25000}
stacks: [{kind: flexins, flexins: {data: {cc: {rate_bps: 2000000000}}}}]
expect:
  within_ps: 1000000000
sweep: {size: [1, 2]}
`))
	require.NoError(t, err)
	require.Len(t, list, 2)
	const old = ": an old name, which the next release will refuse: want "
	require.Equal(t, []string{
		"f.yaml:6: stacks[0].flexins.data.cc.rate_bps" + old + "rate, with a unit",
		"f.yaml:8: expect.within_ps" + old + "within, with a unit",
	}, list[1].OldNames())
}

// No two fields of a mapping may have the same key, in short or long form.
func TestKeysDiffer(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(at reflect.Type) {
		for at.Kind() == reflect.Pointer || at.Kind() == reflect.Slice || at.Kind() == reflect.Array ||
			at.Kind() == reflect.Map {
			at = at.Elem()
		}
		if at.Kind() != reflect.Struct || seen[at] {
			return
		}
		seen[at] = true
		keys := map[string]bool{}
		for _, k := range specfile.Keys(at) {
			require.False(t, keys[k], "%v: %s", at, k)
			keys[k] = true
		}
		for i := range at.NumField() {
			if f := at.Field(i); f.Tag.Get("yaml") != "-" {
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[Spec]())
	require.Greater(t, len(seen), 40, "boards, stacks, workloads and faults")
}
