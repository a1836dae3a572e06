package kind_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/field"
	"nictwin/stack/apps/kind"
	"nictwin/stack/rb2"
)

// usual returns the fields of a workload of a kind, without any options.
func usual(k kind.Kind) *kind.Fields {
	return &kind.Fields{Transport: kind.RC, Sizes: []int{k.Lengths().Most}, Depth: 1, Pieces: 1, Batch: 1,
		SignalEvery: 1, Ring: rb2.DefaultSpec()}
}

var all = []kind.Name{kind.Send, kind.Write, kind.WriteImm, kind.Read, kind.Atomics, kind.Echo, kind.PingPong,
	kind.Reflector, kind.ListWalk, kind.BatchedRead, kind.Ring, kind.Nop}

// TestEveryKindRefusesWhatItLacks checks every kind with every option and transport: what it does not have is refused
// under the name of the field.
func TestEveryKindRefusesWhatItLacks(t *testing.T) {
	options := []kind.Option{kind.Inline, kind.Immediate, kind.Invalidate, kind.LowLatency, kind.Notice,
		kind.SharedReceive, kind.CloseEvery, kind.SharedCounter,
		kind.Reused, kind.Hops, kind.Access, kind.RingSpec, kind.Misuse}
	for _, n := range all {
		for _, by := range []kind.By{kind.ByEngine, kind.ByReads} {
			k := kind.Of(n, by)
			require.Equal(t, n, k.Name())
			for _, o := range options {
				f := usual(k)
				if n == kind.Ring {
					f.Depth = rb2.MinSlots // too few for the ring's thresholds; only the option's error matters
				}
				f.Set = []kind.Option{o}
				at := map[field.Path]string{}
				for _, err := range field.Each(kind.Validate(k, f)) {
					at[err.(*field.Error).Path] = err.Error()
				}
				if kind.Has(k, o) {
					require.NotContains(t, at, o, "%s by %s", n, by)
				} else {
					require.Contains(t, at[o], "kind "+string(n), "%s by %s: %s", n, by, o)
					require.Contains(t, at[o], ": want ")
				}
			}
			for _, over := range []kind.Transport{kind.RC, kind.UC, kind.UD, kind.Raw, kind.Solar} {
				f := usual(k)
				f.Transport = over
				supported := false
				for _, x := range k.Transports() {
					supported = supported || x == over
				}
				refused := false
				for _, err := range field.Each(kind.Validate(k, f)) {
					refused = refused || err.(*field.Error).Path == "kind"
				}
				require.Equal(t, supported, !refused, "%s over %s", n, over)
			}
		}
	}
}

// TestOwnFields checks the fields that a single kind restricts.
func TestOwnFields(t *testing.T) {
	for _, c := range []struct {
		name   kind.Name
		by     kind.By
		change func(*kind.Fields)
		want   string
	}{
		{kind.Atomics, "", func(f *kind.Fields) { f.Offset = 4 }, "pieces 1 at offset 4: an atomic has one piece"},
		{kind.Atomics, "", func(f *kind.Fields) { f.Pieces = 2 }, "pieces 2 at offset 0: an atomic has one piece"},
		{kind.PingPong, "", func(f *kind.Fields) { f.Depth = 2 }, "depth 2: kind ping_pong has one message at a time"},
		{kind.ListWalk, "", func(f *kind.Fields) { f.Hops = []int{1, -1} }, "hops[1] -1: want 0 for a key"},
		{kind.ListWalk, "", func(f *kind.Fields) { f.Hops = make([]int, 4097) }, "hops: 4097 of them: want 4096"},
		{kind.ListWalk, kind.ByReads, func(f *kind.Fields) { f.Batch = 2 },
			"batch: kind list_walk makes READs by itself"},
		{kind.BatchedRead, kind.ByReads, func(f *kind.Fields) { f.Pieces = 2 },
			"pieces: kind batched_read makes READs by itself: want 1"},
		{kind.BatchedRead, kind.ByReads, func(f *kind.Fields) { f.SignalEvery = 2 }, "signal_every: kind batched_read"},
		{kind.BatchedRead, kind.ByReads, func(f *kind.Fields) { f.Receives = 2 }, "receives: kind batched_read"},
		{kind.Ring, "", func(*kind.Fields) {}, "depth 1: of kind ring it is the slots of each ring"},
		{kind.Ring, "", func(f *kind.Fields) { f.Depth, f.Batch = 64, 2 }, "batch: kind ring makes requests by itself"},
	} {
		f := usual(kind.Of(c.name, c.by))
		c.change(f)
		require.Contains(t, text(kind.Validate(kind.Of(c.name, c.by), f)), c.want)
	}
	require.Nil(t, kind.Of("sen", kind.ByEngine))
	require.Equal(t, "send, write, write_imm, read, atomics, echo, ping_pong, reflector, list_walk, batched_read, "+
		"ring, nop, kv, chunks or vxlan", kind.Names(kind.Any))
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
