package testbed

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/ether"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/shell/home/hometest"
	"nictwin/scenarios/traffic"
	"nictwin/stack/driver"
	"nictwin/stack/driver/drivertest"
)

func TestMain(m *testing.M) { hometest.Main(m) }

// TestDriver runs the driver's contract tests on either NIC, on a plain card and behind a switch.
func TestDriver(t *testing.T) {
	h, err := hometest.Find()
	require.NoError(t, err)
	for _, nic := range []string{device.Model, device.RTL} {
		for _, preset := range append([]string{"plain"}, board.SwitchPresetNames...) {
			t.Run(nic+"/"+preset, func(t *testing.T) {
				drivertest.RunContract(t, func(t *testing.T) *drivertest.Rig {
					s := Spec{Spec: device.Spec{NIC: nic, DUT: h.Path("nic")}, LinkCycles: 64, Seed: 3}
					if preset != "plain" {
						s.Switch, err = board.SwitchPreset(preset)
						require.NoError(t, err)
					}
					return driverRig(t, s)
				})
			})
		}
	}
}

func driverRig(t *testing.T, s Spec) *drivertest.Rig {
	t.Helper()
	e := board.DefaultEndpoint()
	e.Faults = true
	s.Endpoint = &e
	b, err := New(s)
	require.NoError(t, err)
	over := false
	t.Cleanup(func() { over = true; require.NoError(t, b.Close()) })
	require.NoError(t, b.Begin(func() bool { return over }))
	pace, err := traffic.ParsePace("line", 0, b.NIC.Period())
	require.NoError(t, err)
	require.NoError(t, b.Players[0].Load(traffic.Track{Pace: pace}))
	r := &drivertest.Rig{Options: driver.DefaultOptions(), Bus: b.Bus}
	r.ApartRoots = s.Switch != nil
	r.Settle = func() error {
		const longest = 20_000 // cycles: more than any operation in these checks takes
		return b.Engine.RunUntil(b.Engine.Now() + b.Cycles(longest))
	}
	r.Receive = func(_ int, f []byte) { b.Players[0].Play(traffic.Frame{Data: f}) }
	r.FailReads = func(from, to uint64) error {
		b.Faults.Clear()
		if from == to {
			return nil
		}
		return b.Faults.Add(inject.Fault{Kind: inject.FaultUR, From: from, To: to})
	}
	b.Players[0].Take = func(f *ether.Frame) {
		r.Sent = append(r.Sent, drivertest.Frame{Port: f.Port, Queue: f.Queue, Data: append([]byte(nil), f.Data...)})
	}
	b.Root.OnMessage = func(_ *tlp.Header, p []byte) { r.Messages = append(r.Messages, append([]byte(nil), p...)) }
	return r
}

// TestDriverKnowsTheBuild checks that the driver refuses queues beyond the number that the NIC was built with.
func TestDriverKnowsTheBuild(t *testing.T) {
	small := nicspec.DefaultBuild()
	small.NumRxq, small.NumTxq = 8, 4
	s := DefaultSpec()
	s.NIC, s.Build = device.Model, &small
	b, err := New(s)
	require.NoError(t, err)
	defer b.Close()
	_, err = b.Driver.OpenTx(driver.TxConfig{QueueConfig: driver.QueueConfig{Queue: 4, LogSize: 4}})
	require.ErrorContains(t, err, "queue 4")
}
