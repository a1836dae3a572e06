package golden

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// rxParts are the optional parts of the receive side.
const rxParts = nicspec.PartRss | nicspec.PartAccounts | nicspec.PartCrc32c | nicspec.PartEcn |
	nicspec.PartPause

// drawing returns a rule that also draws on an account.
func drawing(f nicspec.RuleEntryFields, account, slow int) nicspec.RuleEntryFields {
	f.AccountEn, f.Account, f.SlowQueue = 1, uint8(account), uint16(slow)
	return f
}

func (m *endpoint) account(i int, f nicspec.AccountEntryFields) {
	var b [nicspec.AccountEntrySize]byte
	f.Encode(b[:])
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.Table(nicspec.TableOpWrite, nicspec.TableAccount, i, b[:]))
}

// rssRule returns a rule for frames whose destination address begins with byte v<<1: it distributes them over 2^log
// entries of the indirection table.
func rssRule(v uint8, base, log int) nicspec.RuleEntryFields {
	f := dmacRule(v, nicspec.ActionRss, base)
	f.RssLog = uint8(log)
	return f
}

func (m *endpoint) indirection(i, queue int) {
	var b [nicspec.IndirectionEntrySize]byte
	(&nicspec.IndirectionEntryFields{Queue: uint16(queue)}).Encode(b[:])
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.Table(nicspec.TableOpWrite, nicspec.TableIndirection, i, b[:]))
}

// rssKey writes all words of the RSS key.
func (m *endpoint) rssKey(seed uint64) {
	key := pattern(nicspec.RssKeyBytes, seed)
	for i := range nicspec.RegRssKeyCount {
		m.Write32(nicspec.RegRssKey(i), binary.LittleEndian.Uint32(key[4*i:]))
	}
}

// steadyRule returns a rule that steers frames to queue q, through an account if the build has them.
func steadyRule(m *endpoint, q int, parts nicspec.Cap1Reg) nicspec.RuleEntryFields {
	f := dmacRule(uint8(q), nicspec.ActionQueue, q)
	if parts&nicspec.PartAccounts != 0 && q > 1 {
		m.account(q, nicspec.AccountEntryFields{Balance: 300, Latch: 1})
		f = drawing(f, q, q)
	}
	return f
}

// beginRxParts configures the receive parts of the build.
func (c *chaos) beginRxParts() {
	if c.opt.parts&nicspec.PartRss != 0 {
		c.m.rssKey(c.opt.seed)
		for i := range 16 {
			c.m.indirection((250+i)%nicspec.RssEntries, c.rng.IntN(chaosQueues))
		}
		for v := range 3 {
			c.m.rule(10+v, rssRule(uint8(5+v), 250+v, v))
		}
	}
	if c.opt.parts&nicspec.PartAccounts != 0 {
		c.m.rule(0, drawing(dmacRule(3, nicspec.ActionQueue, 2), 1, 1))
		c.m.rule(1, drawing(dmacRule(4, nicspec.ActionQueue, 3), 1, 1))
		c.m.rule(2, drawing(dmacRule(5, nicspec.ActionQueue, 0), 63, 0))
		c.m.rule(4, drawing(rssRule(7, 250, 3), 2, 0))
	}
}

// useRxParts changes settings of RSS, accounts and pause while frames come in, if the build has these parts.
func (c *chaos) useRxParts() {
	if c.opt.parts&nicspec.PartRss != 0 {
		c.changeRss()
	}
	if c.opt.parts&nicspec.PartAccounts != 0 {
		c.credit()
	}
	if c.opt.parts&nicspec.PartPause != 0 {
		c.pause()
	}
}

func (m *endpoint) portCfg(i int, f nicspec.PortEntryFields) {
	var b [nicspec.PortEntrySize]byte
	f.Encode(b[:])
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.Table(nicspec.TableOpWrite, nicspec.TablePortCfg, i, b[:]))
}

// pauseFrame returns a pause frame with this time.
func pauseFrame(quanta uint16) []byte {
	f := append(make([]byte, 0, 60), 1, 0x80, 0xc2, 0, 0, 1, 2, 2, 2, 2, 2, 2, 0x88, 8, 0, 1)
	return binary.BigEndian.AppendUint16(f, quanta)[:60]
}

// pfcFrame returns a priority pause frame with this time for these classes.
func pfcFrame(classes uint8, quanta uint16) []byte {
	f := append(make([]byte, 0, 60), 1, 0x80, 0xc2, 0, 0, 1, 2, 2, 2, 2, 2, 2, 0x88, 8, 1, 1, 0, classes)
	for range 8 {
		f = binary.BigEndian.AppendUint16(f, quanta)
	}
	return f[:60]
}

func (c *chaos) pause() {
	m, p := c.m, c.rng.IntN(len(c.r.peers))
	switch c.rng.IntN(8) {
	case 0:
		xoff := 64 + c.rng.IntN(20000)
		m.portCfg(p, nicspec.PortEntryFields{
			RxPause: uint8(c.rng.IntN(2)), RxPfc: uint8(c.rng.IntN(4)), TxMode: nicspec.PauseMode(c.rng.IntN(3)),
			TxClasses: uint8(c.rng.IntN(256)), PauseTime: uint16(64 + c.rng.IntN(500)), Xoff: uint32(xoff),
			Xon: uint32(c.rng.IntN(xoff)),
		})
	case 1:
		m.Write32(nicspec.RegPortMac(2*p+c.rng.IntN(2)), c.rng.Uint32())
	case 2, 3, 4:
		c.r.peers[p].send(pauseFrame(uint16(c.rng.IntN(1500))))
	case 5, 6:
		c.r.peers[p].send(pfcFrame(uint8(c.rng.IntN(8)), uint16(c.rng.IntN(1500))))
	case 7:
		c.r.peers[p].send(pauseFrame(0))
	}
}

func (c *chaos) credit() {
	m := c.m
	c.send()
	i := [...]int{1, 1, 2, 63}[c.rng.IntN(4)]
	switch c.rng.IntN(12) {
	case 0:
		m.account(i, nicspec.AccountEntryFields{Balance: uint32(c.rng.IntN(20)), Latch: uint8(c.rng.IntN(2))})
	case 1:
		m.Reg(nicspec.RegAccountCredit(i&^1), 2)
	case 2:
		m.Table(nicspec.TableOpRead, nicspec.TableAccount, i, nil)
		for w := range 4 {
			m.Reg(nicspec.RegTblData(w), 1)
		}
	default:
		for range 1 + c.rng.IntN(3) {
			m.Write32(nicspec.RegAccountCredit(i),
				uint32(c.rng.IntN(8))|uint32(c.rng.IntN(6)/4)<<30|uint32(c.rng.IntN(2))<<31)
		}
	}
}

func (c *chaos) changeRss() {
	m := c.m
	c.send()
	switch c.rng.IntN(5) {
	case 0:
		m.Write32(nicspec.RegRssKey(c.rng.IntN(nicspec.RegRssKeyCount)), c.rng.Uint32())
	case 1:
		m.rssKey(c.rng.Uint64())
	case 2, 3:
		m.indirection((250+c.rng.IntN(16))%nicspec.RssEntries, c.rng.IntN(chaosQueues+1))
	case 4:
		m.Write32(nicspec.RegRxDefault,
			uint32(nicspec.ActionRss)<<16|uint32(c.rng.IntN(300))|uint32(c.rng.IntN(16))<<24)
	}
}

// modes draws the CRC-32C and ECN modes of a receive queue, as far as the build has them.
func (c *chaos) modes(f *nicspec.RxqEntryFields) {
	if c.opt.parts&nicspec.PartCrc32c != 0 {
		f.CrcMode = nicspec.CrcMode(c.rng.IntN(3))
	}
	if c.opt.parts&nicspec.PartEcn != 0 {
		f.EcnMode = uint8(c.rng.IntN(2))
	}
}

// digested inserts a correct CRC-32C into the payload of a RoCEv2 frame.
func digested(f []byte) []byte {
	if len(f) < nicspec.FrameMin {
		return f
	}
	var h core.Headers
	core.Parse(f, 4791, &h)
	from, to := int(h.PayloadOff), int(h.L4Off)+int(h.UDPLen)-4
	if h.Roce && !h.L4LenBad && to-from > 4 {
		sum := crc32.Checksum(f[from:to-4], crc32.MakeTable(crc32.Castagnoli))
		binary.LittleEndian.PutUint32(f[to-4:], sum)
		_ = wire.SealFrame(f, false) // a frame that cannot be sealed is not changed
	}
	return f
}

func TestChaosWithRxPartsPasses(t *testing.T) {
	chaosPasses(t, upTo(chaosSeeds), chaosOpt{steps: 300, parts: rxParts}, nil, func(t *testing.T, _ *chaos, s *Stats) {
		require.NotZero(t, s.Delivered)
	})
}
