package judge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
	"nictwin/scenarios/files"
)

// silent is a NIC of which nothing is heard.
type silent struct{}

func (silent) Observe(boundary.Observer)         {}
func (silent) ObserveRest(boundary.RestObserver) {}
func (silent) ObserveHeld(boundary.HeldObserver) {}

// clocked says what its clock is.
type clocked struct {
	silent
	period simcore.Ps
}

func (c clocked) Period() simcore.Ps { return c.period }

// Times in a log are those of each NIC's own clock.
func TestLogsGoByTheClockOfTheNIC(t *testing.T) {
	dir, err := files.OpenFolder(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, dir.Close()) }()
	log, err := NewLog(dir, 0, "A", "B", "C", "D")
	require.NoError(t, err)
	for i, x := range []struct {
		nic         boundary.Observable
		asked, want simcore.Ps
	}{{clocked{period: 909}, 0, 909}, {clocked{period: 4000}, 0, 4000}, {silent{}, 0, simcore.DefaultPeriodPs}, {clocked{period: 909}, 1000, 1000}} {
		_, err := Attach(x.nic, Options{Name: log.nics[i].name, Build: nicspec.DefaultBuild(), Period: x.asked, Log: log})
		require.NoError(t, err)
		require.Equal(t, x.want, log.nics[i].period)
	}
	require.NoError(t, log.Close())
}
