package cells

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"

	"nictwin/scenarios/shell/home/hometest"
	"nictwin/scenarios/suite/blocks"
	"nictwin/scenarios/suite/blocks/kit"
)

// played builds a cell from the tree in dir, with the RTL's assertions, and plays on it.
func played(t *testing.T, b *kit.Block, dir string, seed uint64, stall int) *blocks.Result {
	t.Helper()
	r, err := play(t, b, dir, seed, stall)
	require.NoError(t, err)
	return r
}

func play(t *testing.T, b *kit.Block, dir string, seed uint64, stall int) (*blocks.Result, error) {
	t.Helper()
	manifest := filepath.Join(dir, "verilator", "duts", "cells", b.Name+".yaml")
	d, err := blocks.Open(t.Context(), b, manifest, nil, build.VariantDebug, os.Stderr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() }) // errors on closing do not matter: the result is known
	return d.Play(t.Context(), blocks.Run{Seed: seed, Stall: stall, Transactions: 400})
}

func homeDir(t *testing.T) string {
	t.Helper()
	h, err := hometest.Find()
	require.NoError(t, err)
	return h.Dir
}

// TestCells plays every cell, with and without pauses between its requests.
func TestCells(t *testing.T) {
	for _, b := range All() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			for _, stall := range []int{0, 30} {
				r := played(t, b, homeDir(t), 1, stall)
				require.Nil(t, r.Mismatch)
				require.Equal(t, 400, r.Compared)
			}
		})
	}
}

// TestCellsAreCovered checks that every cell has a manifest here, or is listed with the blocks that cover it.
func TestCellsAreCovered(t *testing.T) {
	// The CRC engines are played as parts of the blocks icrc, crc32c and offload.
	covered := map[string]bool{"nic_crc32": true, "nic_crc32_back": true, "nic_crc32_fwd": true}
	dir := filepath.Join(homeDir(t), "verilator")
	for _, b := range All() {
		covered[strings.TrimSuffix(filepath.Base(b.RTL), ".sv")] = true
		require.FileExists(t, filepath.Join(dir, "rtl", b.RTL))
	}
	files, err := filepath.Glob(filepath.Join(dir, "rtl", "cells", "*.sv"))
	require.NoError(t, err)
	require.Len(t, files, len(covered))
	for _, f := range files {
		require.True(t, covered[strings.TrimSuffix(filepath.Base(f), ".sv")], "%s is not played alone", f)
	}
}

// bugs lists, for some cells, a line of the RTL, a faulty line to put in its place, and the output that must then be
// wrong.
var bugs = []struct{ cell, was, is, seen string }{
	{"fifo", "wr_q != {~rd_q[Aw], rd_q[Aw-1:0]}", "wr_q[Aw-1:0] + 1'b1 != rd_q[Aw-1:0]", "ready"}, // holds a word less
	{"ram_fifo", "wr_q != rd_q && (!out_valid_q || out_ready_i)", "wr_q != rd_q && !out_valid_q", "valid"},
	{"skid", "assign in_ready_o  = !spare_valid_q", "assign in_ready_o  = 1'b1", "ready"},
	{"arb", "<< index_o << 1", "<< index_o", "index"},
	{"ram_mask", "(mem[waddr_i] & ~wmask_i) | (wdata_i & wmask_i)", "wdata_i & wmask_i", "word"},
	{"clkgate", "if (!clk) open = enable_i || test_en_i", "open = enable_i || test_en_i", "rises"}, // without the latch
	{"clkgate", "enable_i || test_en_i", "enable_i", "rises"},
}

// TestBugsAreSeen checks that a cell with a bug is reported, with the output that is wrong.
func TestBugsAreSeen(t *testing.T) {
	for _, bug := range bugs {
		t.Run(bug.cell+" "+bug.seen, func(t *testing.T) {
			t.Parallel()
			r := played(t, find(t, bug.cell), broken(t, bug.cell, bug.was, bug.is), 1, 0)
			require.NotNil(t, r.Mismatch)
			require.Contains(t, r.Mismatch.Field, bug.seen)
		})
	}
}

// TestAssertionsHold checks that an assertion macro fails when its property does.
func TestAssertionsHold(t *testing.T) {
	dir := broken(t, "fifo", "assign out_data_o  = mem[rd_q[Aw-1:0]]",
		"assign out_data_o  = mem[rd_q[Aw-1:0]] ^ Width'(wr_q)")
	_, err := play(t, find(t, "fifo"), dir, 1, 0)
	require.ErrorContains(t, err, "a_held")
}

func find(t *testing.T, name string) *kit.Block {
	t.Helper()
	for _, b := range All() {
		if b.Name == name {
			return b
		}
	}
	require.Fail(t, "no such cell", name)
	return nil
}

// broken returns a folder with a copy of the RTL in which one line of a cell is changed.
func broken(t *testing.T, name, was, is string) string {
	t.Helper()
	dir := t.TempDir()
	for _, part := range []string{"rtl/cells", "rtl/packages", "duts/cells"} {
		require.NoError(t,
			os.CopyFS(filepath.Join(dir, "verilator", part), os.DirFS(filepath.Join(homeDir(t), "verilator", part))))
	}
	path := filepath.Join(dir, "verilator", "rtl", find(t, name).RTL)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), was), "%s: %q", path, was)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), was, is, 1)), 0o644))
	return dir
}
