package windows

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// A frame that comes in during a change of RSS key and table sees each word and each entry old or new, and its
// queue must be the one that its hash selects [S4].
func TestRssWindow(t *testing.T) {
	build := nicspec.DefaultBuild()
	build.Parts |= nicspec.PartRss
	d := &device{regs: core.NewRegs(build)}
	d.seen = NewReceive(d.regs)
	d.write(10, ctrl(true), rxDefault(nicspec.ActionRss, 0))
	key := []uint32{0x01020304, 0x02040608, 0x0306090c, 0x04080c10}
	for i, w := range key { // each write has taken effect before the next
		d.write(int64(100*i+100), [2]uint32{nicspec.RegRssKey(i), w})
	}
	f := at(1000, 1000)
	var h core.Headers
	core.Parse(f.Data, nicspec.ResetRocePort, &h)
	var buf [nicspec.RssKeyBytes]byte
	input := h.RssInput(&buf)
	old := d.regs.Receive().RssKey.Hash(input)
	word := func(i int, was, now uint32) uint32 { return core.RssWord(i, was, input) ^ core.RssWord(i, now, input) }
	first, second := word(0, key[0], 0x11), word(2, key[2], 0x77777777)

	d.write(1000, [2]uint32{nicspec.RegRssKey(0), 0x11}, [2]uint32{nicspec.RegRssKey(2), 0x77777777})
	entry := make([]byte, nicspec.IndirectionEntrySize)
	(&nicspec.IndirectionEntryFields{Queue: 3}).Encode(entry)
	d.enter(1000, nicspec.TableIndirection, int(uint8(old)), entry)

	alts, open := d.seen.Verdicts(f, nil)
	require.True(t, open)
	alt := &alts[0]
	for _, hash := range []uint32{old, old ^ first, old ^ second, old ^ first ^ second} {
		require.True(t, d.seen.SettleHash(f.Span, alt, hash, 0), "%#x", hash)
		require.Equal(t, hash, alt.Hash)
		require.Equal(t, hash == old, d.seen.SettleHash(f.Span, alt, hash, 3), "%#x", hash)
	}
	require.False(t, d.seen.SettleHash(f.Span, alt, old^1, 0))
	require.Zero(t, d.seen.Lost())

	alts, open = d.seen.Verdicts(at(1065, 1065), nil)
	require.False(t, open)
	require.Len(t, alts, 1)
	require.Equal(t, old^first^second, alts[0].Hash)
}
