package rtlbridge

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
)

// cover runs a device with frames of n bytes and returns the counts of its build in the folder, those of
// earlier runs included.
func cover(t *testing.T, d *build.Device, dir string, n int) *build.Hits {
	t.Helper()
	file, err := d.CoverageFile(dir)
	require.NoError(t, err)
	c := launch(t, d, LaunchOptions{Coverage: file})
	require.NoError(t, c.Start(c.NewStart(1)))
	for i := range n {
		require.NoError(t, c.Add(0, 5, make([]byte, 4), frame(900, i)))
	}
	require.NoError(t, c.SendRun(400))
	_, err = c.Recv()
	require.NoError(t, err)
	require.NoError(t, c.Close())
	hits, err := build.ReadHits(file)
	require.NoError(t, err)
	return hits
}

// TestCoverageAddsUp checks that processes add to one file, which counts from power-up and from reset
// separately.
func TestCoverageAddsUp(t *testing.T) {
	d, dir := fifo(t, build.VariantCoverage), filepath.Join(t.TempDir(), "new")
	idle := cover(t, d, dir, 0)
	busy := cover(t, d, dir, 3)
	require.Equal(t, busy, cover(t, d, dir, 0), "an idle run takes nothing away")

	points, err := build.ReadCoverPoints(filepath.Join(dir, "fifo-"+d.HashString()[:20]+build.PointsExt))
	require.NoError(t, err)
	kinds, before, after := map[string]int{}, 0, 0
	for _, p := range points {
		require.Less(t, p.Counter, len(busy.SinceReset), "%+v", p)
		require.NotEmpty(t, p.File)
		require.Positive(t, p.Line)
		kinds[p.Kind]++
		if p.Kind == "toggle" && p.What == "s_axis_tdata" {
			before, after = int(idle.SinceReset[p.Counter]), int(busy.SinceReset[p.Counter])
		}
		require.NotContains(t, p.What, "clk", "a clock changes whatever is played")
	}
	require.Positive(t, kinds["toggle"])
	require.Positive(t, kinds["line"]+kinds["branch"])
	require.Zero(t, before)
	require.Greater(t, after, 1)
}

// TestCoverageOfBits compares the counts of bits with those computed from the beats sent: on input pins, in
// entries of a memory that were written once, and in the counter of beats.
func TestCoverageOfBits(t *testing.T) {
	d, dir := fifo(t, build.VariantCoverage), t.TempDir()
	const frames = 3
	hits := cover(t, d, dir, frames)
	var data [][]byte // frames of 64-byte beats
	for i := range frames {
		for b := range slices.Chunk(frame(900, i), 64) {
			data = append(data, append(slices.Clone(b), make([]byte, 64-len(b))...))
		}
	}
	changes := func(bit int) (n int) {
		was := false
		for _, beat := range data {
			is := beat[bit/8]>>(bit%8)&1 == 1
			if is != was {
				n++
			}
			was = is
		}
		return min(n, 2)
	}
	want := map[string]func(int) int{
		"s_axis_tdata": changes,
		"wr_ptr_q":     func(bit int) int { return min(len(data)>>bit, 2) },
		"mem[63].data": func(int) int { return 0 },
		"defect_i":     func(int) int { return 0 },
	}
	points, err := build.ReadCoverPoints(filepath.Join(dir, "fifo-"+d.HashString()[:20]+build.PointsExt))
	require.NoError(t, err)
	for _, p := range points {
		f := want[p.What]
		if f == nil {
			continue
		}
		delete(want, p.What)
		for i := range p.Bits() {
			require.Equal(t, f(i), int(hits.SinceReset[p.Counter+i]), "%s[%d]", p.What, p.Bit(i))
		}
	}
	require.Empty(t, want, "signals that are not counted")
}

// TestCoverageOfAnotherBuild checks that a run fails and leaves the file unchanged if it holds another
// build's coverage.
func TestCoverageOfAnotherBuild(t *testing.T) {
	d, dir := fifo(t, build.VariantCoverage), t.TempDir()
	file, err := d.CoverageFile(dir)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte("something else"), 0o644))
	c := launch(t, d, LaunchOptions{Coverage: file})
	require.NoError(t, c.Start(c.NewStart(1)))
	require.ErrorContains(t, c.Close(), "is not the coverage of this build")
	_, err = build.ReadHits(file)
	require.ErrorContains(t, err, "are no coverage counts")
	_, err = fifo(t, build.VariantSpeed).CoverageFile(dir)
	require.ErrorContains(t, err, "want variant coverage")
	_, err = build.ReadCoverPoints(file)
	require.ErrorContains(t, err, "1 words: want 8")
}
