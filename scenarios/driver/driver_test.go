package driver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/host"
	"nictwin/models/nic"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
)

// newDriver is a driver of a Go NIC, and what lets time pass until nothing happens any more.
func newDriver(t *testing.T) (d *Driver, run func()) {
	t.Helper()
	e := simcore.NewEngine()
	root, err := host.Builder{Scheduler: e, Spec: host.DefaultSpec()}.Build("Root")
	require.NoError(t, err)
	n, err := nic.Builder{Scheduler: e, Spec: nic.DefaultSpec()}.Build("NIC")
	require.NoError(t, err)
	_, err = simcore.Connect("Link", e, simcore.LinkSpec{Latency: 10 * simcore.Nanosecond}, root.PCIe(), n.PCIe())
	require.NoError(t, err)
	return New(root), func() { require.NoError(t, e.Run()) }
}

// breaks wants the driver ended by a rule that the device broke.
func breaks(t *testing.T, d *Driver, rule, text string) {
	t.Helper()
	var breach *host.ContractError
	require.ErrorAs(t, d.Err(), &breach)
	require.Equal(t, rule, breach.Rule)
	require.ErrorContains(t, d.Err(), text)
}

func TestRefusedTableCommandIsABreach(t *testing.T) {
	d, run := newDriver(t)
	later := false
	d.WriteTable(nicspec.TableKey, 1<<15, make([]byte, nicspec.KeyEntrySize))
	d.Then(func() { later = true })
	run()
	breaks(t, d, "G6", "refused with status BadIndex")
	require.False(t, later, "later commands are not carried out")
}

// Completion entries that no device may write name the rule they break.
func TestOddCompletionEntries(t *testing.T) {
	rx := func(change func(nicspec.RxCqe)) func(d *Driver) {
		return func(d *Driver) {
			q, err := d.NewRxQueue(RxConfig{LogSize: 2, PayBytes: 256})
			require.NoError(t, err)
			cqe := nicspec.RxCqe(make([]byte, nicspec.CqeBytes))
			cqe.SetType(nicspec.CqeTypeRx)
			change(cqe)
			q.entry(cqe)
		}
	}
	tx := func(change func(nicspec.TxCqe)) func(d *Driver) {
		return func(d *Driver) {
			q, err := d.NewTxQueue(TxConfig{LogSize: 2})
			require.NoError(t, err)
			cqe := nicspec.TxCqe(make([]byte, nicspec.CqeBytes))
			change(cqe)
			q.entry(cqe)
		}
	}
	for _, x := range []struct {
		rule, text string
		give       func(d *Driver)
	}{
		{"R10", "no known type", rx(func(c nicspec.RxCqe) { c.SetType(nicspec.CqeTypeTx) })},
		{"R8", "does not fit", rx(func(c nicspec.RxCqe) { c.SetFrameLen(257) })},
		{"R8", "does not fit", rx(func(c nicspec.RxCqe) { c.SetHdrLen(1); c.SetFrameLen(60) })},
		{"Q4", "receive queue 0: event with status", rx(func(c nicspec.RxCqe) { c.SetType(nicspec.CqeTypeEvent) })},
		{"T2", "transmit queue 0: event with status", tx(func(c nicspec.TxCqe) { c.SetType(nicspec.CqeTypeEvent) })},
		{"T10", "completion of entry 0", tx(func(c nicspec.TxCqe) { c.SetType(nicspec.CqeTypeTx) })},
		{"T10", "no known type", tx(func(c nicspec.TxCqe) { c.SetType(nicspec.CqeTypeRx) })},
	} {
		d, _ := newDriver(t)
		x.give(d)
		breaks(t, d, x.rule, x.text)
	}
}

// An event that the scenario brought about is not the device's fault.
func TestEventAfterAFaultIsNoBreach(t *testing.T) {
	d, run := newDriver(t)
	require.NoError(t, d.root.Faults.Add(host.Fault{Kind: host.FaultUR, From: 0, To: host.Bus(1, 0)}))
	_, err := d.NewRxQueue(RxConfig{LogSize: 2, PayBytes: 256})
	require.NoError(t, err)
	run()
	require.ErrorContains(t, d.Err(), "no OnEvent to take it")
	var breach *host.ContractError
	require.NotErrorAs(t, d.Err(), &breach)
}
