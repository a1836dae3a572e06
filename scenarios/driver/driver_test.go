package driver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/inject"
	"nictwin/models/mem"
	"nictwin/models/msg"
	"nictwin/models/nic"
	"nictwin/models/nicspec"
	"nictwin/models/root"
	"nictwin/models/simcore"
)

// bench is a driver of a Go NIC, with faults to be injected between the NIC and the root.
type bench struct {
	*Driver
	engine *simcore.Engine
	faults *inject.Faults
	root   *root.Root
}

func newBench(t *testing.T, spec nic.Spec) *bench {
	t.Helper()
	e := simcore.NewEngine()
	space, err := mem.NewSpace(1<<30, 1<<30)
	require.NoError(t, err)
	r, err := root.Builder{Scheduler: e, Spec: root.DefaultSpec(), Memory: space}.Build("Root")
	require.NoError(t, err)
	n, err := nic.Builder{Scheduler: e, Spec: spec}.Build("NIC")
	require.NoError(t, err)
	b := &bench{engine: e, root: r, faults: inject.NewFaults("Faults", e, new(msg.TLPs))}
	_, err = simcore.Connect("Inner", e, simcore.LinkSpec{}, r.PCIe(), b.faults.Peer())
	require.NoError(t, err)
	_, err = simcore.Connect("Link", e, simcore.LinkSpec{Latency: 10 * simcore.Nanosecond}, b.faults.Device(), n.PCIe())
	require.NoError(t, err)
	b.Driver = New(r.MMIO(nicspec.RequesterArm), space)
	b.ReadsMayFail = func() bool { return b.faults.Hits() > 0 }
	return b
}

// run lets time pass until nothing happens any more.
func (b *bench) run(t *testing.T) {
	t.Helper()
	require.NoError(t, b.engine.Run())
}

// breaks wants the driver ended by a rule that the device broke.
func breaks(t *testing.T, d *Driver, rule, text string) {
	t.Helper()
	var breach *boundary.ContractError
	require.ErrorAs(t, d.Err(), &breach)
	require.Equal(t, rule, breach.Rule)
	require.ErrorContains(t, d.Err(), text)
}

func TestRefusedTableCommandIsABreach(t *testing.T) {
	d := newBench(t, nic.DefaultSpec())
	later := false
	d.WriteTable(nicspec.TableKey, 1<<15, make([]byte, nicspec.KeyEntrySize))
	d.Then(func() { later = true })
	d.run(t)
	breaks(t, d.Driver, "G6", "refused with status BadIndex")
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
		d := newBench(t, nic.DefaultSpec()).Driver
		x.give(d)
		breaks(t, d, x.rule, x.text)
	}
}

// An event that the scenario brought about is not the device's fault.
func TestEventAfterAFaultIsNoBreach(t *testing.T) {
	d := newBench(t, nic.DefaultSpec())
	require.NoError(t, d.faults.Add(inject.Fault{Kind: inject.FaultUR, From: 0, To: mem.Bus(1, 0)}))
	_, err := d.NewRxQueue(RxConfig{LogSize: 2, PayBytes: 256})
	require.NoError(t, err)
	d.run(t)
	require.ErrorContains(t, d.Err(), "no OnEvent to take it")
	var breach *boundary.ContractError
	require.NotErrorAs(t, d.Err(), &breach)
}
