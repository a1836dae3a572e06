package dram

import (
	"fmt"
	"maps"
	"slices"

	"nictwin/models/sim/simcore"
)

// presets are the memories of the papers' machines; the package comment gives the source of each
// number.
var presets = map[string]Spec{
	"bf3":      common(Spec{Channels: 2, Banks: 64, Peak: 716_800, Mixed: 480_000, Write: 240_000}),
	"bf3-440":  common(Spec{Channels: 2, Banks: 64, Peak: 716_800, Mixed: 440_000, Write: 220_000}),
	"bf2":      common(Spec{Channels: 1, Banks: 16, Peak: 204_800}),
	"bf2-1600": common(Spec{Channels: 1, Banks: 16, Peak: 102_400}),
	"host-fn": server("jedec-ddr5-4800",
		Spec{Channels: 8, Banks: 64, Peak: 2_457_600, Mixed: 1_280_000, Write: 640_000}),
	"host-ce": server("jedec-ddr4-3200", Spec{Channels: 8, Hash: true, Banks: 32, Peak: 1_638_400, Mixed: 1_097_143,
		Write: 548_571, Latency: 100 * simcore.Nanosecond}),
	"host-op": server("jedec-ddr4-2933",
		Spec{Channels: 8, Banks: 32, Peak: 1_501_696, Mixed: 1_005_600, Write: 502_800}),
	"host-rb": server("jedec-ddr4-2400", Spec{Channels: 6, Banks: 16, Peak: 921_600, Mixed: 617_143, Write: 308_571}),
}

// common fills in the values that all presets have in common.
func common(s Spec) Spec {
	s.Interleave, s.RowBytes, s.Batch, s.Window, s.Buffer = 256, 8192, 16, 32, 64
	s.BankTiming, s.Mapping = "offpath", Rows
	if s.Latency == 0 {
		s.Latency = 90 * simcore.Nanosecond
	}
	return s
}

// server completes the preset of a server's memory: the controller spreads pieces over banks, with
// the bank timing of the standard.
func server(timing string, s Spec) Spec {
	s = common(s)
	s.BankTiming, s.Mapping = timing, Pieces
	return s
}

// Preset returns the spec of a machine's memory by name.
func Preset(name string) (Spec, error) {
	s, ok := presets[name]
	if !ok {
		return Spec{}, fmt.Errorf("dram: preset is %q: want one of %v", name, slices.Sorted(maps.Keys(presets)))
	}
	return s, nil
}
