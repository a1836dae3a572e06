package golden

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// goodKeyEntry is the table entry of key 5, variant 9, which goodKey names.
var goodKeyEntry = nicspec.KeyEntryFields{Valid: 1, RightRead: true, Variant: 9, VaBase: 0x1000, Length: keySpan,
	BusBase: keyBus}

// readable stores bytes in the memory of key 5, and enables that key.
func (m *endpoint) readable(b []byte) {
	m.Write(keyBus, b)
	m.key(5, goodKeyEntry)
}

// disable disables a queue and waits until it is off.
func (m *endpoint) disable(t nicspec.Table, q int) {
	var b [64]byte
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.Table(nicspec.TableOpWrite, t, q, b[:]))
}

// hdrBuf and payBuf return the addresses of the buffers of descriptor n of queue q.
func hdrBuf(q, n int) uint64 { return 0x8000_0000 + uint64(q)<<24 + uint64(n)*0x200 + 3 }
func payBuf(q, n int) uint64 { return 0x0100_0001_0000_0000 + uint64(q)<<28 + uint64(n)*0x2800 + 1 }

// post posts n receive descriptors and rings the doorbell.
func (m *endpoint) post(q, n int) {
	r := &m.Rx[q]
	for range n {
		k := int(r.PI) & (1<<r.Log - 1)
		m.Post(q, hdrBuf(q, k), payBuf(q, k))
	}
	m.RingRx(q)
}

// push writes a work entry into its ring, without a doorbell.
func (m *endpoint) push(q int, w *nicspec.WqeFields) {
	var b [nicspec.WqeBytes]byte
	w.Encode(b[:])
	m.PostWqe(q, b[:])
}

// pushTx rings the doorbell for all entries but the last, and pushes the last one.
func (m *endpoint) pushTx(q int) {
	r := &m.Tx[q]
	m.Write32(nicspec.RegTxDoorbell(q), uint32(r.PI-1))
	m.Send(tlp.Header{Kind: tlp.MWr, Addr64: true, Length: 16, FirstBE: 0xf, LastBE: 0xf,
		Address: nicspec.BarBase + uint64(nicspec.RegTxPush(q))},
		m.Bytes(r.Slot(r.PI-1, nicspec.WqeBytes), nicspec.WqeBytes))
}

// key writes the table entry of memory key i.
func (m *endpoint) key(i int, f nicspec.KeyEntryFields) {
	var b [32]byte
	f.Encode(b[:])
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.Table(nicspec.TableOpWrite, nicspec.TableKey, i, b[:]))
}

func (m *endpoint) rule(i int, f nicspec.RuleEntryFields) {
	var b [128]byte
	f.Encode(b[:])
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.Table(nicspec.TableOpWrite, nicspec.TableRule, i, b[:]))
}

// readCounters reads every counter, as a driver does at the end of a run.
func (m *endpoint) readCounters() {
	m.rig.settle()
	m.rig.step(simcore.Microsecond)
	for i := range nicspec.Counters {
		c := &nicspec.Counters[i]
		if !c.PerPort {
			m.Reg(nicspec.RegCounter(c.Index), 2)
			continue
		}
		for p := range m.rig.opt.spec.Ports {
			m.Reg(nicspec.RegCounter(nicspec.PortCounter(c.Index).Index(p)), 2)
		}
	}
	for i := range m.rig.opt.spec.NumRules {
		m.Reg(nicspec.RegRuleHits(i), 2)
	}
}
