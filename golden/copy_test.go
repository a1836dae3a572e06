package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

// copyEntry draws an entry of the copy engine, usually a valid one.
func (c *chaos) copyEntry() nicspec.WqeFields {
	w := nicspec.WqeFields{Opcode: nicspec.Opcode(2 + c.rng.IntN(3)), FComplete: c.rng.IntN(3) > 0,
		WqeId: c.rng.Uint32(), Nseg: 2}
	n := 1 + c.rng.IntN(5000)
	if c.rng.IntN(4) == 0 {
		n = 1 + c.rng.IntN(30000)
	}
	src := nicspec.SegFields{Key: goodKey, Addr: 0x1000 + uint64(c.rng.IntN(keySpan-n))}
	dst := nicspec.SegFields{Key: 7, Addr: uint64(c.rng.IntN(keySpan - n))}
	if w.Opcode != nicspec.OpcodeCopy {
		n = (n + 63) &^ 63
		src = nicspec.SegFields{Key: 8, Addr: uint64(c.rng.IntN(keySpan-n)) &^ 63}
		dst.Addr = uint64(c.rng.IntN(keySpan - n))
	}
	if c.opt.few {
		at, m := c.buffer()
		n, w.Opcode, src = m, nicspec.OpcodeCopy, nicspec.SegFields{Key: goodKey, Addr: 0x1000 + uint64(at)}
		dst.Addr = uint64(c.rng.IntN(64))
	}
	src.Len, dst.Len = uint32(n), uint32(n)
	if w.Opcode == nicspec.OpcodeInvalidate {
		w.Nseg = 1
	}
	if c.opt.faults && c.rng.IntN(6) == 0 {
		bus := keyBus + src.Addr - 0x1000
		if src.Key == 8 {
			bus = linesBus + src.Addr
		}
		page := (bus + uint64(c.rng.IntN(n))) &^ 4095
		c.m.FailOnce(max(bus, page), nictest.ReadFaults[c.rng.IntN(len(nictest.ReadFaults))])
	}
	switch c.rng.IntN(20) {
	case 0:
		w.Nseg = uint8(c.rng.IntN(4))
	case 1:
		w.FPad = true
	case 2:
		src.Len = 0
	case 3:
		dst.Len++
	case 4:
		dst.Key = 6
	case 5:
		src.Addr++
	case 6:
		src.Key, src.Addr = 7, 0
	}
	w.FFence = c.opt.long && w.Opcode != nicspec.OpcodeInvalidate && c.rng.IntN(2) == 0
	src.Encode(w.Slots[:])
	dst.Encode(w.Slots[16:])
	return w
}

func TestCopyChaosPasses(t *testing.T) {
	chaosPasses(t, upTo(chaosSeeds), chaosOpt{steps: 300, copies: true}, nil, func(t *testing.T, c *chaos, s *Stats) {
		require.NotZero(t, s.FramesOut)
		require.NotZero(t, c.r.nic.Regs().Dev(nicspec.CntCopyBytes))
	})
}

// spoil makes some work entries fail.
func (c *chaos) spoil(w *nicspec.WqeFields, used int) {
	switch c.rng.IntN(24) {
	case 0:
		w.Opcode = nicspec.Opcode(c.rng.IntN(6))
	case 1:
		w.Port = 7
	case 2:
		w.FRsvd = 1
	case 3:
		w.Nseg = 4
	case 4:
		w.Opcode = nicspec.OpcodeNop
	case 5:
		w.FCrc32c = true
	case 6, 7, 8:
		if w.Nseg > 0 {
			bad := [...]nicspec.SegFields{
				{Key: 4, Len: 70, Addr: 0x1000}, {Key: 6, Len: 70}, {Key: goodKey, Len: 70, Addr: 1},
				{Key: goodKey, Addr: 0x1000},
				{Key: goodKey | 1<<16, Len: 70, Addr: 0x1000}, {Key: 999, Len: 70},
				{Key: goodKey, Len: 9300, Addr: 0x1000},
			}
			bad[c.rng.IntN(len(bad))].Encode(w.Slots[16*(used+c.rng.IntN(int(w.Nseg))):])
		}
	}
}
