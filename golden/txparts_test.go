package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
)

func TestChaosWithTxPartsPasses(t *testing.T) {
	chaosPasses(t, upTo(chaosSeeds), chaosOpt{steps: 300, parts: nicspec.PartCrc32c | nicspec.PartEcn},
		func(o *chaosOpt) {
			o.pushes, o.copies = o.seed%3 == 1, o.seed%3 == 2
		}, sentFrames)
}

// sendWithParts records a Send of a queue that sets ECN bits. The device inserts a CRC-32C at byte 60 of the frame,
// computed over the bytes behind it.
func sendWithParts(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	o.spec.Parts |= nicspec.PartCrc32c | nicspec.PartEcn
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	frame := roceFrame(200)
	frame[15] = 1
	m.readable(frame)
	m.OpenTx(0, 4, func(f *nicspec.TxqEntryFields) { f.EcnMode = 2 })
	w := nicspec.WqeFields{Opcode: nicspec.OpcodeSend, Nseg: 1, FComplete: true, FCrc32c: true, CrcStart: 64,
		CrcOff: 60, L3Off: 14, L4Off: 34}
	(&nicspec.SegFields{Key: goodKey, Len: 200, Addr: 0x1000}).Encode(w.Slots[:])
	m.push(0, &w)
	w.CrcStart = 60
	m.push(0, &w)
	m.RingTx(0)
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape
}

func TestTxPartsSabotageIsCaught(t *testing.T) {
	cfg, clean := sendWithParts(t)
	p := judge(t, cfg, clean)
	require.True(t, p.Passed(), "%v", p)
	require.EqualValues(t, 1, p.Stats.FramesOut)
	flip := func(at int, bit byte) func(p *tape) {
		return func(p *tape) { p.get(0, frameOut(0)).Frame.Data[at] ^= bit }
	}
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"digest", flip(63, 0x80), "txq 0", "X1", ""},
		{"digest of other bytes", flip(100, 1), "txq 0", "T5", ""},
		{"ECN bits as they were", flip(15, 3), "txq 0", "E2", "ipv4.tos"},
		{"other bits of the ToS", flip(15, 0x80), "txq 0", "E2", "ipv4.tos"},
		{"IPv4 checksum", flip(25, 1), "txq 0", "E2", "ipv4.csum"},
		{"status", func(p *tape) { nicspec.TxCqe(p.get(1, txCqe(0)).TLP.Data).SetStatus(nicspec.StatusOk) }, "txq 0",
			"", ""},
	})
}
