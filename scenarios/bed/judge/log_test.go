package judge

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/shell/files"
)

// silent is a NIC that reports no crossings.
type silent struct{}

func (silent) Observe(boundary.Observer)         {}
func (silent) ObserveRest(boundary.RestObserver) {}
func (silent) ObserveHeld(boundary.HeldObserver) {}

// clocked is a NIC that reports its clock period.
type clocked struct {
	silent
	period simcore.Ps
}

func (c clocked) Period() simcore.Ps { return c.period }

// TestFindingsNameTheNIC checks that findings name the NIC.
func TestFindingsNameTheNIC(t *testing.T) {
	for name, head := range map[string]string{"": "cycle ", "B": "NIC B, cycle "} {
		j, err := Attach(silent{}, Options{Name: name, Build: nicspec.DefaultBuild()})
		require.NoError(t, err)
		in := tlp.Packet{}
		require.NoError(t, in.SetMemRead(tlp.Origin{RequesterID: nicspec.RequesterArm}, 3, nicspec.BarBase, 4))
		j.Referee.Observe(boundary.Crossing{Kind: boundary.TLPIn, TLP: &in})
		rep := j.Finish(Whole)
		require.NotEmpty(t, rep.List, "a read without an answer")
		for _, m := range rep.List {
			require.Equal(t, name, m.NIC)
			require.True(t, strings.HasPrefix(m.String(), head), m.String())
		}
	}
}

// TestLogsGoByTheClockOfTheNIC checks that times in a log are cycles times the period of each NIC's own clock.
func TestLogsGoByTheClockOfTheNIC(t *testing.T) {
	dir, err := files.OpenFolder(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, dir.Close()) }()
	log, err := NewLog(dir, 0, "A", "B", "C", "D")
	require.NoError(t, err)
	for i, x := range []struct {
		nic         boundary.Observable
		asked, want simcore.Ps
	}{{clocked{period: 909}, 0, 909}, {clocked{period: 4000}, 0, 4000}, {silent{}, 0, simcore.DefaultPeriodPs},
		{clocked{period: 909}, 1000, 1000}} {
		_, err := Attach(x.nic, Options{Name: log.nics[i].name, Build: nicspec.DefaultBuild(), Period: x.asked,
			Log: log})
		require.NoError(t, err)
		require.Equal(t, x.want, log.nics[i].period)
	}
	require.NoError(t, log.Close())
}
