package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page on results names the limits below which there is no object, as the program does.
func TestLimitsOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/results.md")
	require.NoError(t, err)
	require.Contains(t, noSpace, "(ulimit -v) is below 2097152 kB")
	require.Contains(t, string(page), "(`ulimit -v`) under 2097152 kB")
	require.Contains(t, noFiles, "(ulimit -n) is below 7,")
	require.Contains(t, string(page), "fewer than 7 open files (`ulimit -n`)")
}
