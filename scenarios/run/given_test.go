package run

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Zeros and empty texts are refused where leaving the field out has a meaning of its own, errors write quantities with
// units, and one fault causes one error.
func TestRefusedInOneLine(t *testing.T) {
	const pair = "name: x\ndescription: d\nboard: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n"
	const cores = "name: x\ndescription: d\nboard: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: "
	const udp = "name: x\ndescription: d\nboard: {preset: ce-pair}\nstacks: [{kind: ddio}, {kind: udp, hostnet: " +
		"{answer_timeout: "
	const client = "workload: {kind: echo, transport: udp, from: 1, to: 0"
	const none = "5: measure.window: none: want the length of the window behind measure.warm_up"
	for text, want := range map[string]string{
		pair + "expect: {within: 0}":    "5: expect.within 0ps: want more than 0ps, or none for any time",
		pair + "expect: {failure: ''}":  `5: expect.failure "": want part of the error of a stack, or none`,
		pair + "measure: {}":            none,
		pair + "measure: {window: 0ps}": none,
		pair + "load: {at: dram, rate: 1GB/s, until: 0}": "5: load[0].until 0ps: want more than load[0].from, " +
			"0ps, or none for the end of the traffic",
		pair + "load: {at: llc, rate: 1GB/s, bytes: 0}": "5: load[0].bytes 0B: want a multiple of 64 B from 1 KiB to " +
			"1024GiB, or none",
		pair + "load: {at: dram, rate: 1GB/s, latency: true}": "5: load[0].latency true: no core of a load of dram " +
			"measures one: want none, or another load[0].at",
		pair + "background: {capture: a.pcap, repeat: 0}": "5: background[0].repeat 0: want 1 to 1073741824 " +
			"passes, or none",
		pair + "workload: {kind: send, transport: raw}": "5: workload.transport: conflicts with a value that " +
			"the file does not set: workload.sizes[0] 1024: send over raw takes 46 " +
			"to 1010 bytes",
		pair + "workload: {every: 5us}": "5: workload.every 5us: requests over rc follow each other: want none, or " +
			"workload.transport udp",
		cores + "{data: {cc: {rate: 1bps}}}}]": "4: stacks[0].flexins.data.cc.rate 1bps: want 1Mbps to 1000Gbps",
		cores + "{data: {staging_bytes: 64KiB}}}]": "4: stacks[0].flexins.data.staging_bytes 64KiB: want 1MiB " +
			"to 32MiB",
		udp + "1ns}}]\n" + client + "}":               "4: stacks[1].hostnet.answer_timeout 1ns: want 1us to 1000s",
		udp + "1ms}}]\n" + client + ", every: 5000s}": "5: workload.every 5000s: want 0ps to 1000s",
		strings.Replace(pair, "pair}", "pair, fleet: {machines: 3}}", 1): "3: board.fleet.card: none: want one, such " +
			"as {preset: bf3-cores}, or a preset of the board that has a fleet, such as bf3-cores-rack",
		strings.Replace(pair, "pair}", "rack, fleet: {machines: 0}}", 1): "3: board.fleet.machines 0: want 1 to 16",
		pair + "sweep: {board.preset: [bf3-cores-pair]}": "5: sweep.board.preset: presets are read before a sweep: " +
			"want fields, such as board.network.latency, or a file for each preset",
	} {
		_, err := Parse("f.yaml", []byte(text))
		if assert.Error(t, err, text) {
			assert.Equal(t, "f.yaml:"+want, err.Error())
		}
	}
}

// Findings of limits name the limit, also if what is in flight comes to rest soon after it.
func TestFindingsNameTheLimit(t *testing.T) {
	for limit, want := range map[string]string{
		"quiet: 1us":  " (limits.quiet); ",
		"settle: 1ns": "for 1ns (limits.settle)",
	} {
		p, err := caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n"+
			"workload: {kind: write, count: 4, sizes: [64]}\nlimits: {"+limit+"}").
			Play(t.Context(), Options{Unjudged: true})
		require.NoError(t, err)
		require.Contains(t, texts(p), want)
	}
}

// A wait that ends behind limits.settle is a finding also if nothing happens from before the limit until its end: a
// controller that runs every 5 ms comes to rest after its second period.
func TestSettlingTooLateIsFound(t *testing.T) {
	for limit, want := range map[string]string{
		"7ms":  "waited for everything to settle after the traffic: for 7ms (limits.settle)",
		"11ms": "",
	} {
		p, err := caseOf(t, "board: {preset: ce-pair}\nstacks: [{kind: ceio, ceio: {controller: arm, "+
			"arm_period: 5ms}}, {kind: udp}]\nworkload: {kind: echo, transport: udp, from: 1, to: 0, count: 4, "+
			"sizes: [400]}\nlimits: {settle: "+limit+"}").Play(t.Context(), Options{Unjudged: true})
		require.NoError(t, err)
		require.Equal(t, want == "", p.Pass(), texts(p))
		require.Contains(t, texts(p), want)
	}
}

func TestTextsOfBounds(t *testing.T) {
	require.Equal(t, []string{"2", "2 to 3"}, []string{span(2, 2), span(2, 3)})
	require.Equal(t, []string{"0bps", "900Kbps", "35.53Gbps", "2000Gbps"},
		[]string{rateText(0), rateText(9e-4), rateText(35.5312), rateText(2000)})
}
