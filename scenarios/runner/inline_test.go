package runner

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Bytes that a stack's requests do not take along are refused by field, before anything runs.
func TestInlineRefused(t *testing.T) {
	const rnic = "board: {preset: connectx6-pair}\nstacks: [{kind: rnic}]\n"
	for text, want := range map[string]string{
		onSolar + "workload: {inline: true, sizes: [8, 221]}":                        "f.yaml:5: workload.sizes[1] 221: requests of stacks of kind flexins take up to 220 B along: want 220 or less",
		onSolar + "workload: {inline: true, transport: raw, sizes: [220]}":           "f.yaml:5: workload.sizes[0] 220: requests of stacks of kind flexins take up to 220 B along: want 206 or less",
		rnic + "workload: {inline: true, sizes: [33]}":                               "f.yaml:5: workload.sizes[0] 33: requests of stacks of kind rnic take up to 32 B along: want 32 or less",
		onSolar + "workload: {inline: true, sizes: [8]}\nsweep: {size: [220, 1024]}": "f.yaml:6: sweep: case x:size=1024: workload.sizes[0] 1024: requests of stacks of kind flexins",
	} {
		_, err := Parse("f.yaml", []byte("name: x\ndescription: y\n"+text))
		require.ErrorContains(t, err, want, text)
	}
	caseOf(t, onSolar+"workload: {inline: true, sizes: [220]}")
	caseOf(t, rnic+"workload: {inline: true, sizes: [32]}")
}
