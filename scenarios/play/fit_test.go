package play

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// with opens a device of testdata; play replaces the section `play` of its manifest, and the stream fields in omit are
// removed.
func with(t *testing.T, dut, play string, omit ...string) (Options, error) {
	t.Helper()
	o := device(t, dut, nil, nil)
	var n yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(play), &n))
	o.Manifest.Play = *n.Content[0]
	for i := range o.Manifest.Streams {
		x := &o.Manifest.Streams[i]
		x.Fields = slices.DeleteFunc(x.Fields, func(f string) bool { return slices.Contains(omit, f) })
	}
	if len(omit) > 0 {
		o.Manifest.TieRest = "0"
	}
	s, err := ReadSpec(o.Manifest)
	o.Spec = s
	return o, err
}

// A section `play` that does not fit the design is refused before the build, with file, line and field. It must not
// panic.
func TestFits(t *testing.T) {
	for _, c := range []struct{ dut, play, want string }{
		{"prio", "{stall: any}", "play.stall want percentages of 0 to 95"},
		{"prio", "{inputs: {s0: {stall: any}}}", "play.inputs.s0.stall want percentages of 0 to 95"},
		{"prio", "{outputs: {m: {stall: count * 2}}}", "play.outputs.m.stall want percentages of 0 to 95"},
		{"prio", "{inputs: {s0: {gap: 0..0xffffffffffffffff}}}", "play.inputs.s0.gap want cycles, 0 to 1048576"},
		{"prio", "{inputs: {s0: {every: 1..0xffffffffffffffff}}}", "play.inputs.s0.every want cycles, 1 to 1073741824"},
		{"prio", "{fair: -1}", "play.fair -1: want 1 to 1000000, or 0 for none"},
		{"prio", "{fair: 1000001}", "play.fair 1000001: want 1 to 1000000, or 0 for none"},
		{"prio", "{check: identity, in: [s0, s0]}", `play.in[1] "s0" is there twice`},
		{"prio", "{check: identity, drops: {whole: true, above: -1}}", "play.drops.above -1: want bytes, 0 or more"},
		{"prio", "{check: identity, drops: {when: {data: count}}}", "play.drops.when.data want numbers or ranges"},
		{"prio", "{check: identity, order: {m: to}}", `play.order.m stream m has no field "to"`},
		{"prio", "{check: identity, order: {m: data}, ignore: [data]}",
			"play.order.m field data comes from no field of stream s0"},
		{"prio", "{order: {m: data}}",
			"play.order.m check rules expects no transactions: want check identity, route or reference"},
		{"prio", "{latency: {m: 1..2}}", "play.latency.m check rules expects no transactions"},
		{"prio", "{drops: whole}", "play.drops check rules expects no transactions"},
		{"prio", "{check: rules, out: [m]}", "play.check rules has no in and out"},
		{"pool", "{check: identity, in: [s0], inputs: {s0: {count: 100001}}}", "play.inputs.s0.count want 0 to 100000"},
		{"wide", "{check: identity, in: [s]}",
			"play.check data has 16 bits at stream s and data 8 at stream m, which cannot give all of its values: " +
				"name data in ignore"},
		{"wide", "{check: identity, in: [s], rename: {data: tag}}",
			"play.rename.data data has 16 bits at stream s and tag 4 at stream m"},
		{"wide", "{check: identity, in: [s], ignore: [data], drops: {when: {long: 1}}}",
			"play.drops.when.long the field has 80 bits: want at most 64"},
		{"wide", "{check: route, in: [s], by: long, ignore: [data]}",
			"play.by field long of stream s has 80 bits: want at most 64"},
		{"wide", "{check: identity, in: [q]}",
			"play.check identity: stream m has no field of stream q: name pairs in rename"},
		{"wide", "{tie_offs: {mode: any}}",
			"play.tie_offs.mode the input has 72 bits: values are drawn for at most 64"},
		{"wide", "{inputs: {level: {count: 3}}}", "play.inputs.level.count stream level is a level: want every"},
		{"wide", "{count: 100000, inputs: {p: {bytes: 100000}}}",
			"play.count a run may have packets of 10000000000 bytes in all: want at most 1073741824"},
		{"axi_ram", "{check: memory, memory: {port: s, bytes: 16388}}",
			"play.memory.bytes 16388: port s has addresses of 14 bits: want at most 16384"},
		{"axi_ram", "{check: memory, memory: {port: s, base: 4096, bytes: 16384}}",
			"play.memory.bytes 16384: port s has addresses of 14 bits: want at most 12288"},
		{"axi_ram", "{check: memory, memory: {port: s, base: 16384, bytes: 4}}",
			"play.memory.base 0x4000: port s has addresses of 14 bits: want at most 0x3ffc"},
		{"axi_ram", "{check: memory, memory: {port: s, base: 2, bytes: 64}}",
			"play.memory.base 0x2: want a multiple of 4"},
		{"axi_ram", "{check: memory, memory: {port: s, bytes: 63}}",
			"play.memory.bytes 63: want a multiple of 4, the bytes of a beat"},
		{"axi_ram", "{check: memory, memory: {ports: [s, s], bytes: 8192}}", `play.memory.ports[1] "s" is there twice`},
		{"axi_ram", "{check: memory, memory: {port: s, bytes: 64}, inputs: {s.aw: {count: 1}}}",
			"play.inputs.s.aw memory and serve make the transactions of port s"},
		{"axi_ram", "{check: memory, memory: {port: s, bytes: 64}, inputs: {s.ar: {fields: {araddr: 4}}}}",
			"play.inputs.s.ar memory and serve make the transactions of port s"},
	} {
		o, err := with(t, c.dut, c.play)
		var log strings.Builder
		if err == nil {
			o.Log = &log
			_, err = Play(t.Context(), o)
		}
		require.ErrorContains(t, err, c.want, c.play)
		require.ErrorContains(t, err, "dut.yaml:", c.play)
		require.ErrorAs(t, err, new(*SpecError), c.play)
		require.NotContains(t, log.String(), "compiling", c.play)
	}
}

// An AXI port that lacks fields needed to play it is refused, and the error names the port.
func TestPortsFit(t *testing.T) {
	const play = "{check: memory, memory: {port: s, bytes: 64}}"
	for field, want := range map[string]string{
		"awaddr": "port s: it has no awaddr, without which it cannot be played",
		"wdata":  "port s: it has no wdata, without which it cannot be played",
		"wstrb":  "port s: it has no wstrb, without which it cannot be played",
		"awid":   "port s: it has bid and no awid: want all of [awid bid arid rid], or none",
		"awlen":  "port s: it has awsize and no awlen: want all of",
	} {
		o, err := with(t, "axi_ram", play, field)
		require.NoError(t, err)
		_, err = Play(t.Context(), o)
		require.ErrorContains(t, err, "play.memory.port "+want)
	}
}

// A check that cannot decide what is right is refused with the manifest's line, not with a line of nictwin.
func TestUndecided(t *testing.T) {
	o := device(t, "pool", nil, nil)
	_, err := Play(t.Context(), o)
	const want = "pool/dut.yaml:10: play.check identity: stream m: what came can be explained in more than 4096 ways"
	require.ErrorContains(t, err, want)
	require.ErrorAs(t, err, new(*SpecError))
}

// Ports with narrow addresses each get an equal part of them, and no burst leaves its part.
func TestNarrowPorts(t *testing.T) {
	for _, x := range []MemorySpec{
		{Port: "a", Bytes: 100}, {Ports: []string{"a", "b"}, Bytes: 8192}, {Ports: []string{"a", "b"}, Bytes: 20_000},
		{Ports: []string{"a", "b"}, Bytes: 4096}, {Ports: []string{"a", "b", "c"}, Bytes: 1000},
		{Ports: []string{"a", "b"}, Bytes: 2},
	} {
		part, n := x.part(), uint64(len(x.all()))
		require.LessOrEqual(t, part*n, x.Bytes)
		require.Greater(t, 4*part*n, x.Bytes)
		if n > 1 {
			require.Zero(t, part%min(page, part&-part))
			require.True(t, part%page == 0 || part < page && part&(part-1) == 0, "%d", part)
		}
	}
}
