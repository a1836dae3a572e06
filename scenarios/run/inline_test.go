package run

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Inline sizes that a stack cannot carry are refused before the run, and the error names the field.
func TestInlineRefused(t *testing.T) {
	const rnic = "board: {preset: connectx6-pair}\nstacks: [{kind: rnic}]\n"
	for _, c := range []struct{ text, want string }{
		{onSolar + "workload: {inline: true, sizes: [8, 221]}",
			"f.yaml:5: workload.sizes[1] 221: its request has 221 B, and a stack of kind flexins carries up to " +
				"220 inline: want fewer, or workload.inline false"},
		{onSolar + "workload: {inline: true, transport: raw, sizes: [220]}",
			"f.yaml:5: workload.sizes[0] 220: its request has 234 B, and a stack of kind flexins carries up to " +
				"220 inline"},
		{rnic + "workload: {inline: true, sizes: [33]}",
			"f.yaml:5: workload.sizes[0] " +
				"33: its request has 33 B, and a stack of kind rnic carries up to 32 inline"},
		{rnic + "workload: {inline: true, transport: raw, sizes: [46]}",
			"f.yaml:5: workload.sizes[0] 46: its request has 60 B, and a stack of kind rnic carries up to 32 " +
				"inline: want workload.inline false"},
		{rnic + "workload: {inline: true}",
			"f.yaml:5: workload.inline: " +
				"conflicts with a value that the file does not set: workload.sizes[0] 1024: its request has 1024 B"},
		{onSolar + "workload: {inline: true, sizes: [8]}\nsweep: {size: [220, 1024]}",
			"f.yaml:6: sweep: case x:size=1024: workload.sizes[0] 1024: its request has 1024 B"},
		{onSolar + "workload: {kind: batched_read, inline: true, sizes: [2048]}",
			"f.yaml:5: workload.sizes[0] 2048: its request has 272 B"},
	} {
		text, want := c.text, c.want
		_, err := Parse("f.yaml", []byte("name: x\ndescription: y\n"+text))
		require.ErrorContains(t, err, want, text)
	}
	caseOf(t, onSolar+"workload: {inline: true, sizes: [220]}")
	caseOf(t, onSolar+"workload: {inline: true, transport: raw, sizes: [206]}")
	_, err := Parse("f.yaml", []byte("name: x\ndescription: y\n"+onSolar+"workload: {inline: true, transport: raw, "+
		"sizes: [220]}\nsweep: {transport: [rc, ud]}"))
	require.NoError(t, err, "the transport is the sweep's")
	caseOf(t, rnic+"workload: {inline: true, sizes: [32]}")
}
