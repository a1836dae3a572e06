package runner

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/mem"
	"nictwin/models/nicspec"
	"nictwin/scenarios/device"
)

// What a ring does not have is refused by field, before anything runs.
func TestRingRefused(t *testing.T) {
	const ring = onRNICs + "workload: {kind: ring, depth: 16, ring: {alpha: 4, beta: 2, gamma: 3}"
	for text, want := range map[string]string{
		onRNICs + "workload: {kind: ring}":                "f.yaml:5: workload.ring.alpha 32: want 1 to 7, as one of the 8 slots stays free",
		onRNICs + "workload: {kind: ring, depth: 1}":      "f.yaml:5: workload.depth 1: of kind ring it is the slots of each ring: want 2 to 4096",
		onRNICs + "workload: {ring: {beta: 2}}":           "f.yaml:5: workload.ring: kind send has no ring: want kind ring",
		ring + ", inline: true}":                          "f.yaml:5: workload.inline: kind ring makes requests by itself: want false",
		ring + ", batch: 2}":                              "f.yaml:5: workload.batch: kind ring makes requests by itself: want 1",
		ring + ", transport: uc}":                         "f.yaml:5: workload.kind ring: transport uc does not have it",
		ring + ", sizes: [8, 0]}":                         "f.yaml:5: workload.sizes[1] 0: ring over rc takes 1 to",
		ring + ", immediate: true}":                       "f.yaml:5: workload.immediate: kind ring has no SENDs: want false",
		ring + ", low_latency: true}":                     "f.yaml:5: workload.low_latency",
		ring + ", misuse: {what: remote_key}}":            "f.yaml:5: workload.misuse: kind ring makes requests by itself: want none",
		ring + ", payload: reused}":                       "f.yaml:5: workload.payload: kind ring makes requests by itself: want fresh",
		ring + "}\nsweep: {tail: [write_imm]}":            "f.yaml:6: sweep: case x:tail=write_imm: workload.ring.alpha 4: with workload.ring.tail write_imm",
		ring + "}\nsweep: {head: [poke]}":                 `f.yaml:6: sweep: case x:head=poke: workload.ring.head "poke": want push or pull`,
		ring + "}\nsweep: {depth: [4]}":                   "f.yaml:6: sweep: case x:depth=4: workload.ring.alpha 4: want 1 to 3",
		ring + ", shared_receive: true, any_order: true}": "f.yaml:5: workload.shared_receive: kind ring takes no receive requests",
	} {
		_, err := Parse("f.yaml", []byte("name: x\ndescription: y\n"+text))
		require.ErrorContains(t, err, want, text)
	}
}

// A ring needs a core that polls, and queue pairs for its requests: who has none says so.
func TestRingNeeds(t *testing.T) {
	c := caseOf(t, "board: {preset: connectx6-pair}\nstacks: [{kind: rnic}]\nworkload: {kind: ring, depth: 128}")
	_, err := c.Play(t.Context(), Options{NIC: device.Model})
	require.ErrorContains(t, err, "its applications run on no core that could poll memory")
	c = caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\nworkload: {kind: ring, depth: 4000, ring: {alpha: 1, beta: 1}}")
	_, err = c.Play(t.Context(), Options{NIC: device.Model})
	require.ErrorContains(t, err, "a ring with depth 4000 and beta 1 has up to 8009 requests under way, and a queue pair here 4096")
}

// The reader takes a message as soon as the tail says that it is there: bytes that are not are told, with their place.
func TestRingReaderSeesWrongBytes(t *testing.T) {
	c := caseOf(t, onRNICs+"workload: {kind: ring, sizes: [64], count: 40, depth: 16, ring: {alpha: 4, beta: 4, gamma: 4}}")
	o := Options{NIC: device.Model}
	first := mem.Bus(nicspec.EndpointHost, appsFrom)
	w, err := newWorld(t.Context(), c, &o)
	require.NoError(t, err)
	x := w.rack.Servers[1].Cards[0].Memory
	_, err = x.Watch(first, 1, func(uint64, int) { require.NoError(t, x.Write(first+10, []byte{0xee})) })
	require.NoError(t, err)
	p := &Played{Case: c}
	require.NoError(t, w.play(p))
	require.NoError(t, w.close())
	require.NotEmpty(t, p.Findings)
	require.Equal(t, "byte", p.Findings[0].Field)
	require.Contains(t, p.Findings[0].Text, "message 0 (64 B): byte 10 at ")
}
