package transmit

import (
	"math/rand/v2"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// txqCut is a fault in the result of a queue that was disabled. The contract leaves open how many of its entries still
// start [T11].
type txqCut uint8

const (
	txqCutOrder txqCut = 1 + iota
	txqCutTorn
	txqCutCompletions
)

func (c txqCut) String() string {
	return [...]string{"right", "blocks are not one after another", "an entry is not whole",
		"completion entries are others"}[c%4]
}

// cut chooses a queue, and when to disable and enable it while its entries arrive: most often soon after the last
// doorbell, often a queue whose block was pushed.
func (s *txqState) cut(rng *rand.Rand, d *txqDoorbells) {
	d.Cut = uint8(rng.IntN(kit.Places))
	if d.Pushed != txqNone && kit.Maybe(rng, 60) {
		d.Cut = d.Pushed
	}
	for k := 0; k < kit.Places && d.Rung>>d.Cut&1 == 0; k++ { // prefer a queue that has work
		d.Cut = (d.Cut + 1) % kit.Places
	}
	if s.Txq(int(d.Queue[d.Cut])) == nil || d.Fault != faultNone && d.Faulty == d.Cut {
		d.Cut = txqNone
		return
	}
	place := uint64(d.Cut)
	d.When = uint8(kit.Pick(rng, rng.IntN(8), rng.IntN(100), txqAfter+4+rng.IntN(8), txqAfter+rng.IntN(24),
		txqAfter+4+rng.IntN(8)))
	d.From = s.Txq(int(d.Queue[d.Cut])).CI
	f := nicspec.TxqEntryFields{Enable: 1, LogSize: uint8(2 + rng.IntN(5)), RingBase: txqRingAt(rng, place),
		CqBase: txqRingAt(rng, place), EcnMode: uint8(rng.IntN(4))}
	f.Encode(d.Again[:])
}

// restart disables a queue, and enables it with the given entry.
func (s *txqState) restart(id int, again []byte) {
	for _, e := range [][]byte{make([]byte, nicspec.TxqEntrySize), again} {
		kit.TableAnswer(s.Regs, kit.TableRequest(txqTable, nicspec.TableTxq, id, e))
		s.Drained()
	}
}

// txqCutOff checks the result of a queue that was disabled: its entries must be complete and consecutive from its
// consumer index on, each with the completion entry that it requests.
func txqCutOff(from uint16, blocks, completions []txqItem) txqCut {
	for i := 0; i < len(blocks); {
		w := nicspec.Wqe(blocks[i].Bytes[:])
		n := 1 + int(w.Blocks())
		if i+n > len(blocks) {
			return txqCutTorn
		}
		for k := range n {
			if blocks[i+k].Index != from+uint16(i+k) {
				return txqCutOrder
			}
		}
		if status, _ := txqEnd(w); status != nicspec.StatusOk || w.FComplete() {
			if len(completions) == 0 || nicspec.TxCqe(completions[0].Bytes[:]).Index() != blocks[i].Index {
				return txqCutCompletions
			}
			completions = completions[1:]
		}
		i += n
	}
	if len(completions) > 0 {
		return txqCutCompletions
	}
	return 0
}
