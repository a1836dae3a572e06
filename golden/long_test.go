package golden

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

// postLong posts one entry of several blocks, or a Nop if the drawn entry has more blocks than `most`. It returns the
// number of blocks posted. Some entries are announced block by block, by a doorbell each; some blocks are pushed.
func (c *chaos) postLong(q, most int) int {
	var inline []byte
	var pieces []nictest.Piece
	appends := c.rng.IntN(2) == 0
	if inline = testFrame(c.rng); appends {
		inline = make([]byte, 54+c.rng.IntN(60))
	}
	inline = inline[:min(len(inline), c.rng.IntN(nicspec.InlineMaxLong+1)|c.rng.IntN(2)*60, nicspec.InlineMaxLong)]
	total := len(inline)
	for range c.rng.IntN(nicspec.SegMax + 1) {
		p := nictest.Piece{Key: goodKey, Addr: 0x1000 + uint64(c.rng.IntN(denseSpan)), N: 1 + c.rng.IntN(300)}
		total += p.N
		pieces = append(pieces, p)
	}
	blocks := min(nictest.NeedBlocks(len(inline), len(pieces))+c.rng.IntN(2), nicspec.WqeBlocksMax)
	if blocks > most {
		c.m.push(q, &nicspec.WqeFields{Opcode: nicspec.OpcodeNop}) // the drawn entry has too many blocks
		return 1
	}
	pad := c.rng.IntN(4)
	if appends && len(inline) >= 54 {
		copy(inline[12:], []byte{8, 0, 0x45})
		binary.BigEndian.PutUint16(inline[38:], uint16(total+pad+4-34-c.rng.IntN(8)/7))
		inline[43] = uint8(pad << 4)
	}
	raw := nictest.Blocks(blocks, c.rng.Uint32(), inline, pieces, func(w nicspec.Wqe) {
		w.SetPort(uint8(c.rng.IntN(c.r.opt.spec.Ports)))
		w.SetFComplete(c.rng.IntN(3) > 0)
		w.SetFPad(c.rng.IntN(3) == 0)
		w.SetFIcrc(appends)
		w.SetFAppend(appends)
		w.SetL3Off(14)
		w.SetL4Off(34)
	})
	if c.longs == nil {
		c.longs = map[uint32]nicspec.Wqe{}
	}
	if blocks > 1 {
		c.longs[nicspec.Wqe(raw).WqeId()] = raw
	}
	k, ring := &c.tx[q], &c.m.Tx[q]
	k.blocks[ring.PI] = uint16(blocks)
	switch c.rng.IntN(4) {
	case 0:
		if c.opt.pushes {
			c.m.RingTx(q)
			c.m.PushWqe(q, raw)
			break
		}
		fallthrough
	case 1:
		for at := 0; at < len(raw); at += nicspec.WqeBytes {
			c.m.PostWqe(q, raw[at:at+nicspec.WqeBytes])
			c.m.RingTx(q)
		}
	default:
		c.m.PostWqe(q, raw)
	}
	return blocks
}

func TestLongChaosPasses(t *testing.T) {
	all := 0 // number of entries with an appended trailer
	chaosPasses(t, upTo(chaosSeeds), chaosOpt{steps: 300, long: true}, func(o *chaosOpt) {
		o.pushes, o.copies = o.seed%3 == 0, o.seed%3 == 1
	}, func(t *testing.T, c *chaos, _ *Stats) {
		var long, appended int
		for i := range c.r.tape {
			x := &c.r.tape[i]
			for q := range chaosQueues {
				if e := c.longs[longID(x, q)]; e != nil && nicspec.TxCqe(x.TLP.Data).Status() == nicspec.StatusOk {
					long++
					if e.FAppend() {
						appended++
					}
				}
			}
		}
		require.NotZero(t, long)
		all += appended
	})
	require.NotZero(t, all)
}

// longID returns the wqe_id of a completion entry of a queue, 0 for other crossings.
func longID(x *boundary.Crossing, q int) uint32 {
	if txCqe(q)(x) {
		return nicspec.TxCqe(x.TLP.Data).WqeId()
	}
	return 0
}
