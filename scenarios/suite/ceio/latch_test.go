package ceio

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	nics "nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/shell/home"
	"nictwin/scenarios/shell/home/hometest"
	"nictwin/stack/ceio/manager"
)

// latched shows a NIC to the referee as one whose accounts were asked to latch, while world.latch is set.
type latched struct {
	nics.Device
	w *world
}

// Observe implements boundary.Observable.
func (l latched) Observe(o boundary.Observer) {
	l.Device.Observe(func(c boundary.Crossing) {
		if !l.w.latch || c.Kind != boundary.TLPIn || len(c.TLP.Data) != 4 {
			o(c)
			return
		}
		const window = 1<<20 - 1 // of BAR0
		p := tlp.Packet{Hdr: c.TLP.Hdr, Data: append([]byte(nil), c.TLP.Data...)}
		if uint32(p.Parsed().Address&window) == nicspec.RegTblData(1) {
			p.Data[0] = 1
		}
		c.TLP = &p
		o(c)
	})
}

// TestLatchBug plays a NIC whose accounts do not latch. The order of packets is right all the same; the manager names
// the first fast packet behind a slow one, and the referee the rule.
func TestLatchBug(t *testing.T) {
	w, err := newWorldWith(nics.Model, 3, func(s *manager.Spec) { s.Controller = manager.ControlNIC })
	require.NoError(t, err)
	w.latch = true
	for i := range w.flows {
		require.NoError(t, w.Driver.SetAccount(5+i, 0, false))
	}
	require.NoError(t, w.await("the accounts", func() bool { return w.Driver.Idle() }))
	w.latch = false
	err = w.play(120)
	require.ErrorContains(t, err, "came fast behind a slow one, and the account was not resumed [A2]")
	w.over = true
	require.NoError(t, w.Engine.Run())
	rep := w.judge.Finish(judge.Whole)
	require.False(t, rep.Passed())
	require.Contains(t, rules(rep), "A2")
	require.NoError(t, w.Close())
}

// rules returns the rules that a report names.
func rules(r *golden.Report) map[string]bool {
	named := map[string]bool{}
	for _, m := range r.List {
		named[m.Rule] = true
	}
	return named
}

// mutant returns the manifest of the RTL with a seeded bug of ci/mutants.
func mutant(t *testing.T, name string) string {
	h, err := hometest.Find()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "verilator"), os.DirFS(filepath.Join(h.Dir, "verilator"))))
	out, err := exec.Command("patch", "-d", dir, "-p1", "-s", "-f", "--no-backup-if-mismatch", "-i",
		filepath.Join(h.Dir, "ci/mutants", name+".patch")).CombinedOutput()
	require.NoError(t, err, "patch: %s", out)
	broken, err := home.Find(dir)
	require.NoError(t, err)
	return broken.Path("nic")
}

// TestSeededLatchBug plays schedules on RTL whose accounts lose a latch now and then. The referee fails each of them;
// the software ring finds the bug where a credit comes in that very moment, and then the referee names the rule.
func TestSeededLatchBug(t *testing.T) {
	dut := mutant(t, "account-latch")
	const first, most = 100, 60 // about one schedule in forty has such a credit
	for seed := uint64(first); seed < first+most; seed++ {
		w, err := newOn(nics.Spec{NIC: nics.RTL, DUT: dut}, seed, shapeOf(seed), nil)
		require.NoError(t, err)
		found := w.play(120)
		w.over = true
		require.NoError(t, w.Engine.Run())
		rep := w.judge.Finish(judge.Whole)
		require.NoError(t, w.Close())
		require.False(t, rep.Passed(), "seed %d", seed)
		if found != nil {
			require.ErrorContains(t, found, "and the account was not resumed [A2]")
			require.Contains(t, rules(rep), "A2")
			return
		}
	}
	t.Fatalf("the software ring found nothing in %d schedules", most)
}
