package golden

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
)

// goodKeyEntry is key 5, as goodKey names it.
var goodKeyEntry = nicspec.KeyEntryFields{Valid: 1, RightRead: true, Variant: 9, VaBase: 0x1000, Length: keySpan, BusBase: keyBus}

// readable puts bytes where key 5 leads, and makes that key.
func (m *memory) readable(b []byte) {
	m.bytes.Write(keyBus, b)
	m.key(5, goodKeyEntry)
}

func (m *memory) openRx(q, log int, mod func(*nicspec.RxqEntryFields)) {
	f := nicspec.RxqEntryFields{Enable: 1, LogSize: uint8(log), RingBase: 0x1000_0000 + uint64(q)<<20,
		CqBase: 0x0100_0000_3000_0000 + uint64(q)<<22, PayBufSize: 9216, HdrBufSize: 256}
	if mod != nil {
		mod(&f)
	}
	var b [64]byte
	f.Encode(b[:])
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.table(nicspec.TableOpWrite, nicspec.TableRxq, q, b[:]))
	m.rx[q] = testRing{ring: f.RingBase, cq: f.CqBase, log: log}
}

func (m *memory) openTx(q, log int, mods ...func(*nicspec.TxqEntryFields)) {
	f := nicspec.TxqEntryFields{Enable: 1, LogSize: uint8(log), RingBase: 0x2000_0000 + uint64(q)<<22 + 64,
		CqBase: 0x6000_0000 + uint64(q)<<22}
	for _, mod := range mods {
		mod(&f)
	}
	var b [64]byte
	f.Encode(b[:])
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.table(nicspec.TableOpWrite, nicspec.TableTxq, q, b[:]))
	m.tx[q] = testRing{ring: f.RingBase, cq: f.CqBase, log: log}
}

// disable turns a queue off and waits until it is.
func (m *memory) disable(t nicspec.Table, q int) {
	var b [64]byte
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.table(nicspec.TableOpWrite, t, q, b[:]))
}

// Buffers of the tests: descriptor n of queue q.
func hdrBuf(q, n int) uint64 { return 0x8000_0000 + uint64(q)<<24 + uint64(n)*0x200 + 3 }
func payBuf(q, n int) uint64 { return 0x0100_0001_0000_0000 + uint64(q)<<28 + uint64(n)*0x2800 + 1 }

// post posts n receive descriptors and rings the doorbell.
func (m *memory) post(q, n int) {
	r := &m.rx[q]
	for range n {
		var b [16]byte
		k := int(r.pi) & (1<<r.log - 1)
		(&nicspec.RxDescFields{HdrAddr: hdrBuf(q, k), PayAddr: payBuf(q, k)}).Encode(b[:])
		m.bytes.Write(r.ring+16*uint64(k), b[:])
		r.pi++
	}
	m.write(nicspec.RegRxDoorbell(q), uint32(r.pi))
}

// push writes a work entry to its ring.
func (m *memory) push(q int, w *nicspec.WqeFields) {
	r := &m.tx[q]
	var b [64]byte
	w.Encode(b[:])
	m.bytes.Write(r.ring+64*uint64(r.pi&(1<<r.log-1)), b[:])
	r.pi++
}

// pushTx rings for the entries before the latest, and pushes that one.
func (m *memory) pushTx(q int) {
	r := &m.tx[q]
	m.write(nicspec.RegTxDoorbell(q), uint32(r.pi-1))
	var b [64]byte
	m.bytes.Read(r.ring+64*uint64((r.pi-1)&(1<<r.log-1)), b[:])
	m.send(tlp.Header{Kind: tlp.MWr, Addr64: true, Length: 16, FirstBE: 0xf, LastBE: 0xf,
		Address: nicspec.BarBase + uint64(nicspec.RegTxPush(q))}, b[:])
}

func (m *memory) ringTx(q int) { m.write(nicspec.RegTxDoorbell(q), uint32(m.tx[q].pi)) }

// key writes memory key i: readable, of variant i, and all of an endpoint.
func (m *memory) key(i int, f nicspec.KeyEntryFields) {
	var b [32]byte
	f.Encode(b[:])
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.table(nicspec.TableOpWrite, nicspec.TableKey, i, b[:]))
}

func (m *memory) rule(i int, f nicspec.RuleEntryFields) {
	var b [128]byte
	f.Encode(b[:])
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.table(nicspec.TableOpWrite, nicspec.TableRule, i, b[:]))
}

// readCounters reads every counter, as a driver does at the end.
func (m *memory) readCounters() {
	m.rig.settle()
	m.rig.step(simcore.Microsecond)
	for i := range nicspec.Counters {
		c := &nicspec.Counters[i]
		if !c.PerPort {
			m.reg(nicspec.RegCounter(c.Index), 2)
			continue
		}
		for p := range m.rig.opt.spec.Ports {
			m.reg(nicspec.RegCounter(nicspec.PortCounter(c.Index).Index(p)), 2)
		}
	}
	for i := range m.rig.opt.spec.NumRules {
		m.reg(nicspec.RegRuleHits(i), 2)
	}
}
