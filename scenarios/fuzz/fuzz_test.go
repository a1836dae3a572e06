package fuzz

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/rtlbridge/build"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/fuzz/generate"
	"nictwin/scenarios/fuzz/player"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/fuzz/shrink"
)

const nicManifest = "../../verilator/duts/nic/dut.yaml"

func sizes(ports int) nicspec.Build {
	s := nicspec.DefaultBuild()
	s.Ports = ports
	return s
}

func model(s testbed.Spec) (*testbed.Bed, error) {
	s.NIC = device.Model
	return testbed.New(s)
}

func options(kind string, runs int) Options {
	o := DefaultOptions()
	o.NIC, o.DUT, o.Runs, o.Seed, o.Variant = kind, nicManifest, runs, 42, string(build.VariantSpeed)
	return o
}

func begun(t *testing.T, o Options) *campaign {
	t.Helper()
	c, err := newCampaign(o)
	require.NoError(t, err)
	return c
}

func passes(t *testing.T, o Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), o)
	require.NoError(t, err)
	for i := range r.Failures {
		f := &r.Failures[i]
		t.Errorf("program %d of seed %d: %s", f.Number, o.Seed, f.Finding.Text)
	}
	require.Equal(t, o.Runs, r.Runs)
	require.Positive(t, r.Checked)
	return r
}

// Programs pass on the Go NIC. The digest does not depend on the number of jobs, and every bin that is hit is listed.
func TestProgramsOnTheModel(t *testing.T) {
	o := options(device.Model, 60)
	o.Jobs = 1
	one := passes(t, o)
	o.Jobs = 3
	three := passes(t, o)
	require.Equal(t, one.Digest, three.Digest)
	require.Equal(t, one.Coverage, three.Coverage)
	rep := one.Coverage.Report(coverage.NewUniverse(sizes(2)))
	require.Empty(t, rep.Unlisted, "bins that were hit and are in no list")
	require.Greater(t, rep.Share, 0.6)
	o.Seed, o.Runs = 43, 5
	require.NotEqual(t, one.Digest, passes(t, o).Digest)
}

// Programs pass on builds of other sizes, each with the bins of its own build.
func TestEveryBuild(t *testing.T) {
	bins := map[int]bool{}
	for _, b := range program.Builds {
		o := options(device.Model, 20)
		o.Build = b.Name
		r := passes(t, o)
		rep := r.Coverage.Report(coverage.NewUniverse(r.Sizes))
		require.Empty(t, rep.Unlisted, "bins of build %s that were hit and are in no list", b.Name)
		bins[rep.Bins] = true
	}
	require.Greater(t, len(bins), 2)
}

func TestProgramsOnRTL(t *testing.T) {
	o := options(device.RTL, 24)
	first := passes(t, o)
	o.Jobs = 1
	require.Equal(t, first.Digest, passes(t, o).Digest, "same seed, same crossings")
	require.NotEmpty(t, first.Build)
}

func TestCaptured(t *testing.T) {
	all, err := generate.Captured()
	require.NoError(t, err)
	require.Greater(t, len(all), 200)
}

// Programs that once failed, because of a bug in either NIC or the referee, pass.
func TestProgramsThatFailedOnce(t *testing.T) {
	all, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, path := range all {
		p, err := program.Load(path)
		require.NoError(t, err)
		for _, nic := range []string{device.Model, device.RTL} {
			o := options(nic, 1)
			o.Program = p
			passes(t, o)
		}
	}
}

// A program survives being written to a file and read back.
func TestProgramsAreFiles(t *testing.T) {
	for seed := range uint64(100) {
		p := generate.Generate(seed, generate.Shape{Sizes: sizes(1 + int(seed%2)), Stall: -1, Overlap: seed%5 == 0})
		text, err := p.JSON()
		require.NoError(t, err)
		back, err := program.Parse(text)
		require.NoError(t, err, "seed %d", seed)
		again, err := back.JSON()
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
	}
}

// Any subset of a program's operations is itself a program that the NIC passes. Shrinking relies on it.
func TestAnyPartIsAProgram(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for seed := range uint64(30) {
		p := generate.Generate(seed, generate.Shape{Sizes: sizes(1), Stall: -1, Overlap: false})
		var ops []program.Op
		for i := range p.Ops {
			if rng.IntN(3) > 0 {
				ops = append(ops, p.Ops[i])
			}
		}
		p.Ops = ops
		v := player.Run(p, context.Background(), model, nil)
		require.True(t, v.Pass(), "seed %d: %s", seed, v.Key())
	}
}

// liar is a NIC whose observed crossings are altered, so that the referee sees a bug.
type liar struct {
	device.Device
	lie func(c *boundary.Crossing)
}

func (l *liar) Observe(f boundary.Observer) {
	l.Device.Observe(func(c boundary.Crossing) {
		l.lie(&c)
		f(c)
	})
}

// sabotaged is the Go NIC with a bug that shows only in the completion entries of frames with two VLAN tags.
func sabotaged(s testbed.Spec) (*testbed.Bed, error) {
	b, err := model(s)
	if err != nil {
		return nil, err
	}
	b.NIC = &liar{b.NIC, func(c *boundary.Crossing) {
		if c.Kind != boundary.TLPOut || c.TLP.Parsed().Kind != tlp.MWr || len(c.TLP.Data) != nicspec.CqeBytes {
			return
		}
		e := nicspec.RxCqe(c.TLP.Data)
		if e.Type() != nicspec.CqeTypeRx || e.VlanCount() != 2 || e.VlanInner() == 0 ||
			e.L3Type() != nicspec.L3TypeIpv6 {
			return
		}
		p := new(tlp.Packet)
		copy(p.Own(len(c.TLP.Data)), c.TLP.Data)
		p.Hdr = c.TLP.Hdr
		nicspec.RxCqe(p.Data).SetVlanInner(0)
		c.TLP = p
	}}
	return b, nil
}

// A bug that shows in few frames is found, and the failing program shrinks to at most eight operations and one frame.
func TestSabotageIsFoundAndShrunk(t *testing.T) {
	c := begun(t, options(device.Model, 0))
	for number := 0; ; number++ {
		require.Less(t, number, 50, "programs until the fault is found")
		p := c.generate(number)
		v := player.Run(p, context.Background(), sabotaged, nil)
		if v.Pass() {
			continue
		}
		require.True(t, v.Mismatch())
		require.Contains(t, v.Key(), "vlan_inner")
		small, trials := shrink.Shrink(context.Background(), p, func(p *program.Program) bool {
			return player.Run(p, context.Background(), sabotaged, nil).Key() == v.Key()
		})
		require.LessOrEqual(t, trials, shrink.MaxTrials)
		require.LessOrEqual(t, len(small.Ops), 8, "operations of %d that are left", len(p.Ops))
		frames := 0
		for i := range small.Ops {
			if small.Ops[i].Play != nil {
				frames += len(small.Ops[i].Play.Frames)
			}
		}
		require.Equal(t, 1, frames, "the frame that shows it")
		require.True(t, player.Run(small, context.Background(), model, nil).Pass(), "the fault shows, nothing else")
		return
	}
}

// A panic says nothing about the device: it ends the campaign with an error that names the program and the line of the
// panic, and is no failure of the device.
func TestPanicIsNoMismatch(t *testing.T) {
	c := begun(t, options(device.Model, 0))
	broken := func(s testbed.Spec) (*testbed.Bed, error) {
		b, err := model(s)
		if err == nil {
			b.NIC = &liar{b.NIC, func(c *boundary.Crossing) { c.TLP.Data[1<<20]++ }}
		}
		return b, err
	}
	o := &outcome{number: 3, prog: c.generate(3)}
	o.v = player.Run(o.prog, t.Context(), broken, nil)
	require.False(t, o.v.Pass() || o.v.Mismatch())
	_, err := c.take(t.Context(), o)
	var crash *player.CrashError
	require.ErrorAs(t, err, &crash)
	require.Contains(t, crash.Stack[0], "TestPanicIsNoMismatch")
	require.ErrorContains(t, err, "program 3 of seed 42: panic: runtime error: index out of range")
	require.Empty(t, c.res.Failures)
}

// A failing campaign writes the program that failed to a file. Played from there, it fails in the same way.
func TestFailureLeavesAProgram(t *testing.T) {
	o := options(device.Model, 40)
	o.Out, o.Most, o.Program = t.TempDir(), 1, nil
	c := begun(t, o)
	var failed *outcome
	for n := 0; failed == nil; n++ {
		p := c.generate(n)
		if v := player.Run(p, context.Background(), sabotaged, nil); !v.Pass() {
			failed = &outcome{number: n, prog: p, v: v, cov: coverage.New()}
		}
	}
	c.Shrink = false
	done, err := c.take(context.Background(), failed)
	require.NoError(t, err)
	require.True(t, done)
	f := c.res.Failures[0]
	require.Equal(t, filepath.Join(o.Out, filepath.Base(f.Program)), f.Program)
	p, err := program.Load(f.Program)
	require.NoError(t, err)
	require.Equal(t, f.Key, player.Run(p, context.Background(), sabotaged, nil).Key())
}

func TestCoverageInFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hits.json")
	a := coverage.New()
	require.NoError(t, a.Load(path), "none yet")
	a.Hit("fragments", "Udp")
	require.NoError(t, a.AddTo(t.Context(), path, t.Logf))
	b := coverage.New()
	b.Hit("fragments", "Udp")
	b.Hit("rules", "none")
	require.NoError(t, b.Load(path))
	require.Equal(t, map[string]map[string]uint64{"fragments": {"Udp": 2}, "rules": {"none": 1}}, b.Hits)
	require.NoError(t, os.WriteFile(path, []byte(`{"schema":7}`), 0o644))
	require.ErrorContains(t, b.Load(path), path)
	r := b.Report(coverage.NewUniverse(sizes(1)))
	require.Equal(t, 2, r.Hit)
	require.Equal(t, r.Bins, r.Hit+len(r.Missing))
	for _, u := range r.Unreachable {
		require.NotEmpty(t, u.Why)
	}
	b.Hit("nothing", "of the kind")
	require.Len(t, b.Report(coverage.NewUniverse(sizes(1))).Unlisted, 1)
}

// Parse either refuses a text or returns a program of bounded size.
func FuzzParse(f *testing.F) {
	for seed := range uint64(3) {
		p := generate.Generate(seed, generate.Shape{Sizes: sizes(1), Stall: 0, Overlap: false})
		p.Ops = p.Ops[len(p.Ops)-8:]
		text, err := p.JSON()
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := program.Parse(text)
		if err != nil {
			return
		}
		for i := range p.Ops {
			if play := p.Ops[i].Play; play != nil {
				for k := range play.Frames {
					require.LessOrEqual(t, len(play.Frames[k].Bytes(play.Frames[k].Len)), 4*program.MaxFrame)
				}
			}
		}
		_, err = p.JSON()
		require.NoError(t, err)
	})
}

// Concurrent runs add to the same file without losing hits.
func TestCoverageOfRunsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hits.json")
	const runs = 24
	var wg sync.WaitGroup
	for i := range runs {
		wg.Go(func() {
			c := coverage.New()
			c.Hit("runs", "all")
			c.Hit("runs", fmt.Sprint(i))
			assert.NoError(t, c.AddTo(t.Context(), path, t.Logf))
		})
	}
	wg.Wait()
	all := coverage.New()
	require.NoError(t, all.Load(path))
	require.EqualValues(t, runs, all.Hits["runs"]["all"])
	require.Len(t, all.Hits["runs"], runs+1)
}
