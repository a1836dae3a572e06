package emulation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
)

// TestShellsThatBreakRules checks that an agent believes no shell: one that takes a beat in spite of the stall pattern
// ends the session as a failure of the board, not as a verdict about the device. It is part of make emulation-test, as
// it builds harness and shell anew.
func TestShellsThatBreakRules(t *testing.T) {
	t.Parallel()
	home := seeded(t, "shell_out.sv", "!mask_q[0] && (!limited_i", "(!limited_i")
	if os.Getenv("NICTWIN_LONG") == "" {
		return
	}
	m := load(t, "fifo/lanes.yaml")
	direct, err := build.Build(m, build.Options{Log: os.Stderr})
	require.NoError(t, err)
	file := record(t, direct, 1, recordedQuanta).file
	agent, err := Build(m, DefaultOptions(), build.Options{Log: os.Stderr, HarnessDir: home})
	require.NoError(t, err)
	words, err := played(agent, file)
	require.Error(t, err)
	require.Contains(t, words, "the board breaks the rules of the shell, cycle ")
	require.Contains(t, words, "it took a beat that had to wait")
}

// seeded copies the harness and a shell with a bug, and returns the harness's folder.
func seeded(t *testing.T, file, from, to string) string {
	t.Helper()
	home := t.TempDir()
	for _, part := range []string{"harness", "shell", filepath.Join("rtl", "cells")} {
		require.NoError(t, os.CopyFS(filepath.Join(home, part), os.DirFS(filepath.Join("../../verilator", part))))
	}
	path := filepath.Join(home, "shell", file)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), from), "%s: %s", file, from)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o644))
	return filepath.Join(home, "harness")
}
