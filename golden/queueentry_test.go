package golden

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

const (
	stateOff, errorOff = 0, 8
	piOff, cqiOff      = 48, 52
)

// readEntry reads four words of a queue's table entry. It returns the indices of the answers on the tape, by offset
// of the word.
func readEntry(r *rig, t nicspec.Table, queue int) map[uint32]int {
	m := r.mem
	require.Equal(r.t, nicspec.TableStatusOk, m.Table(nicspec.TableOpRead, t, queue, nil))
	at := map[uint32]int{}
	for _, off := range []uint32{stateOff, errorOff, piOff, cqiOff} {
		m.Reg(nicspec.RegTblData(int(off/4)), 1)
		for i := range r.tape {
			if x := &r.tape[i]; x.Kind == boundary.TLPOut && tlp.Parse(&x.TLP.Hdr).Kind == tlp.CplD {
				at[off] = i
			}
		}
	}
	return at
}

// entryRun records reads of queue entries: of a receive queue that runs, after a ring read has failed, and after
// its disabling; of a transmit queue that runs, and after its disabling.
func entryRun(t *testing.T) (clean []boundary.Crossing, reads map[string]map[uint32]int) {
	r := newRig(t, defaultRig())
	m := r.mem
	reads = map[string]map[uint32]int{}
	var ctrl nicspec.CtrlReg
	ctrl.SetRxEnable(true)
	ctrl.SetTxEnable(true)
	m.Write32(nicspec.RegCtrl, uint32(ctrl))
	var def nicspec.RxDefaultReg
	def.SetAction(uint32(nicspec.ActionQueue))
	m.Write32(nicspec.RegRxDefault, uint32(def))
	m.OpenRx(0, 4, nil)
	m.OpenTx(0, 4)
	m.post(0, 4)
	for range 3 {
		m.push(0, &nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true})
	}
	m.RingTx(0)
	for range 2 {
		r.peers[0].send(pattern(100, 5))
	}
	r.settle()
	r.step(simcore.Microsecond)
	reads["running"] = readEntry(r, nicspec.TableRxq, 0)
	reads["sending"] = readEntry(r, nicspec.TableTxq, 0)
	m.FailOnce(m.Rx[0].Base+16*4, inject.FaultCA)
	m.post(0, 1)
	r.settle()
	reads["failed"] = readEntry(r, nicspec.TableRxq, 0)
	m.disable(nicspec.TableRxq, 0)
	m.disable(nicspec.TableTxq, 0)
	reads["off"] = readEntry(r, nicspec.TableRxq, 0)
	reads["sent"] = readEntry(r, nicspec.TableTxq, 0)
	m.readCounters()
	return r.tape, reads
}

// Once a queue is idle, its table entry can have one value only: every other state, status or index is reported.
func TestQueueEntryIsExactAtRest(t *testing.T) {
	clean, reads := entryRun(t)
	cfg := DefaultConfig(nicspec.DefaultBuild())
	rep := judge(t, cfg, clean)
	require.True(t, rep.Passed(), "%v", rep)
	const run, failed = uint32(nicspec.QueueStateRun) << 24, uint32(nicspec.QueueStateError) << 24
	for _, x := range []struct {
		read string
		off  uint32
		flip uint32 // bits of the answer that are inverted
	}{
		{"running", stateOff, run ^ failed}, {"running", stateOff, run}, {"running", stateOff, 7 << 24},
		{"running", errorOff, uint32(nicspec.StatusCplAbort) << 16},
		{"running", piOff, 4 ^ 3}, {"running", piOff, 4 ^ 5}, {"running", piOff, (2 ^ 1) << 16},
		{"running", piOff, (2 ^ 3) << 16},
		{"running", cqiOff, 2 ^ 1}, {"running", cqiOff, 2 ^ 3}, {"running", cqiOff, 1 << 16},
		{"sending", stateOff, run ^ failed}, {"sending", piOff, (3 ^ 2) << 16}, {"sending", piOff, (3 ^ 4) << 16},
		{"sending", cqiOff, 3 ^ 4},
		{"failed", stateOff, failed ^ run}, {"failed", stateOff, failed},
		{"failed", errorOff, uint32(nicspec.StatusCplAbort) << 16},
		{"failed", errorOff, uint32(nicspec.StatusCplAbort^nicspec.StatusCplPoison) << 16},
		{"failed", piOff, 5 ^ 6}, {"failed", piOff, 1 << 16}, {"failed", cqiOff, 3 ^ 2}, {"failed", cqiOff, 3 ^ 4},
		{"off", stateOff, run}, {"off", stateOff, failed}, {"off", errorOff, uint32(nicspec.StatusCplAbort) << 16},
		{"off", piOff, 1 << 16}, {"off", cqiOff, 3 ^ 4}, {"sent", stateOff, run}, {"sent", cqiOff, 3 ^ 2},
	} {
		p := newTape(t, clean)
		b := p.s[reads[x.read][x.off]].TLP.Data
		binary.LittleEndian.PutUint32(b, binary.LittleEndian.Uint32(b)^x.flip)
		rep := judge(t, cfg, p.s)
		require.EqualValues(t, 1, rep.Mismatches, "%s, byte %d, %#x", x.read, x.off, x.flip)
		require.Equal(t, []string{"Q5", registerName(nicspec.RegTblData(int(x.off / 4)))},
			[]string{rep.List[0].Rule, rep.List[0].Field})
	}
}

// A doorbell with the producer index that the ring has already is legal [Q2]. It must not be taken as a sign that
// entries have ended, even if the ring has half as many entries as there are indices: the pushes behind it are then
// legal, too.
func TestDoorbellOfAnEmptyRing(t *testing.T) {
	for _, log := range []int{nicspec.LogSizeMax - 1, nicspec.LogSizeMax} {
		r := newRig(t, defaultRig())
		m := r.mem
		m.Write32(nicspec.RegCtrl, 3)
		m.OpenTx(0, log)
		var nop [nicspec.WqeBytes]byte
		(&nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true}).Encode(nop[:])
		for _, want := range []uint32{4, 8} {
			m.RingTx(0)
			for range 4 {
				m.PushWqe(0, nop[:])
			}
			r.settle()
			at := readEntry(r, nicspec.TableTxq, 0)
			require.Equal(t, want<<16|want, binary.LittleEndian.Uint32(r.tape[at[piOff]].TLP.Data))
		}
		m.readCounters()
		rep := judge(t, DefaultConfig(nicspec.DefaultBuild()), r.tape)
		require.True(t, rep.Passed(), "ring of 2^%d: %v", log, rep)
	}
}
