package registers

import (
	"encoding/binary"
	"math/rand/v2"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// Kinds of requests of block regs.
const (
	regsRequest = iota
	regsLook
	regsHdrAt  = 16
	regsDataAt = regsHdrAt + tlp.HeaderBytes
)

var Regs = &kit.Block{
	Name: "regs", RTL: "registers/nic_regs.sv", Go: "models/nic/core/regs.go",
	Ops: []kit.Op{
		regsRequest: {
			Name: "request",
			Request: kit.NewLayout(kit.Num("op", 1), kit.Gap(15), kit.Raw("header", tlp.HeaderBytes),
				kit.Raw("data", nicspec.WqeBytes)),
			Result: kit.NewLayout(kit.Num("op", 1), kit.Num("ok", 1), kit.Num("two", 1), kit.Num("tc", 1),
				kit.Num("attr", 1), kit.Raw("requester", 2), kit.Num("tag", 1),
				kit.Num("byte_count", 2), kit.Num("lower_address", 1), kit.Num("lower", 4), kit.Num("upper", 4)),
		},
		regsLook: {
			Name:    "look",
			Request: kit.NewLayout(kit.Num("op", 1), kit.Num("status", 1)),
			Result: kit.NewLayout(kit.Num("op", 1), kit.Num("rx_enable", 1), kit.Num("tx_enable", 1),
				kit.Num("attr", 1), kit.Num("mps", 2), kit.Num("mrrs", 2), kit.Num("rcb128", 1),
				kit.Num("cpl_timeout", 4), kit.Num("drop_ip_csum", 1), kit.Num("drop_l4_csum", 1),
				kit.Num("drop_icrc", 1), kit.Num("drop_crc32c", 1),
				kit.Num("default_queue", 2), kit.Num("default_to_queue", 1), kit.Num("default_rss", 1),
				kit.Num("default_log", 1), kit.Num("roce_port", 2),
				kit.Raw("rss_key", nicspec.RssKeyBytes),
				kit.Num("rx_doorbells", 1), kit.Num("rx_queue", 1), kit.Num("rx_pi", 2), kit.Num("tx_doorbells", 1),
				kit.Num("tx_queue", 1), kit.Num("tx_pi", 2),
				kit.Num("pushes", 1), kit.Raw("wqe", nicspec.WqeBytes)),
		},
	},
	Stimulus: regsStimulus, Reference: regsReference,
}

// regsStimulus accesses all registers, and makes requests of every other kind.
func regsStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	for len(list) < n {
		list = append(list, regsSome(rng)...)
	}
	return list[:n]
}

// regsSome returns one or a few requests of a random kind.
func regsSome(rng *rand.Rand) (list []kit.Packet) {
	switch {
	case kit.Maybe(rng, 12):
		return []kit.Packet{{Data: append([]byte{regsLook, uint8(rng.IntN(8))},
			make([]byte, regsDataAt+nicspec.WqeBytes-2)...)}}
	case kit.Maybe(rng, 2):
		return []kit.Packet{regsReset(rng)}
	case kit.Maybe(rng, 10):
		for _, p := range tablesCommand(rng, tablesSimple) {
			list = append(list, regsOf(rng, p.Data))
		}
		return list
	}
	return []kit.Packet{regsAny(rng)}
}

// regsReset starts a function-level reset.
func regsReset(rng *rand.Rand) kit.Packet { return regsAccess(rng, true, 1, nicspec.RegCtrl, 1<<31) }

// regsPlaces lists the offsets of registers and of arrays of registers, with their lengths in bytes.
var regsPlaces = [][2]int{
	{nicspec.RegId, 0x30}, {nicspec.RegId, 0x30}, {0x30, 0x10}, {nicspec.RegTblCmd + 4, 0x3c},
	{nicspec.RegTblDataBase, 4 * nicspec.TableWords},
	{nicspec.RegRssKeyBase, nicspec.RssKeyBytes}, {nicspec.RegRssKeyBase, nicspec.RssKeyBytes + 16},
	{nicspec.RegAccountCreditBase, 4 * nicspec.RegAccountCreditCount}, {nicspec.RegAccountCreditBase, 0x200},
	{nicspec.RegRuleHitsBase, 8 * nicspec.RegRuleHitsCount}, {nicspec.RegCounterBase + 8*int(nicspec.CntTxWqe), 8 * 16},
	{nicspec.RegCounterBase, 8 * nicspec.RegCounterCount}, {nicspec.RegRxDoorbellBase, 4 * nicspec.RegRxDoorbellCount},
	{nicspec.RegTxDoorbellBase, 4 * nicspec.RegTxDoorbellCount},
	{nicspec.RegTxPushBase, nicspec.RegTxPushStride * nicspec.RegTxPushCount},
	{0xa000, 0x6000}, {0x20000, 0xe0000},
}

// regsPlace draws the address of a register, or of an element of an array.
func regsPlace(rng *rand.Rand) uint32 {
	p := kit.Pick(rng, regsPlaces...)
	return uint32(p[0] + rng.IntN(p[1])&^3)
}

// regsOf converts an access of tablesCommand to a request of block regs.
func regsOf(rng *rand.Rand, b []byte) kit.Packet {
	off, v := 8*uint32(kit.LittleEndian.Uint16(b[4:])), kit.LittleEndian.Uint64(b[8:])
	switch {
	case b[0] == tablesRead, b[2] == 3:
		return regsAccess(rng, b[0] == tablesWrite, 2, off, v)
	case b[2] == 2:
		return regsAccess(rng, true, 1, off+4, v>>32)
	}
	return regsAccess(rng, true, 1, off, v)
}

// regsAccess returns a complete access of registers.
func regsAccess(rng *rand.Rand, write bool, dws int, off uint32, value uint64) kit.Packet {
	const mrd, mwr = 0x20, 0x60
	be, typ := uint8(0xf), uint8(mrd)
	if dws > 1 {
		be = 0xff
	}
	if write {
		typ = mwr
	}
	p := regsTLP(rng, typ, dws, be, nicspec.BarBase+uint64(off))
	kit.LittleEndian.PutUint64(p.Data[regsDataAt:], value)
	return p
}

// regsValue returns a number of any size.
func regsValue(rng *rand.Rand) uint64 { return uint64(rng.Uint32() >> rng.IntN(32)) }

// regsTLP returns a request with any data. Header fields not given are random.
func regsTLP(rng *rand.Rand, typ uint8, dws int, be uint8, addr uint64) kit.Packet {
	const fourDW, lengthBits, tcAttr, attr = 0x20, 0x3ff, 0x74, 0x30
	b := append(make([]byte, regsHdrAt), kit.Noise(rng, tlp.HeaderBytes+nicspec.WqeBytes)...)
	b[0] = regsRequest
	h := b[regsHdrAt:regsDataAt]
	h[0], h[1], h[7] = typ, h[1]&tcAttr, be
	binary.BigEndian.PutUint16(h[2:], uint16(dws&lengthBits)|uint16(h[2]&attr)<<8)
	if typ&fourDW != 0 {
		binary.BigEndian.PutUint64(h[8:], addr)
	} else {
		binary.BigEndian.PutUint32(h[8:], uint32(addr))
		clear(h[12:])
	}
	return kit.Packet{Data: b}
}

// regsAny returns a random request that is neither a reset nor a table command.
func regsAny(rng *rand.Rand) kit.Packet {
	const poisoned = 0x40
	off, dws := regsPlace(rng), 1+rng.IntN(2)
	if kit.Maybe(rng, 70) {
		if dws == 2 && kit.Maybe(rng, 95) {
			off &^= 7
		}
		return regsCalm(regsAccess(rng, kit.Maybe(rng, 50), dws, off, regsValue(rng)|regsValue(rng)<<32))
	}
	in := nicspec.BarBase + uint64(off)
	switch rng.IntN(8) {
	case 0: // a push, valid or not
		return regsTLP(rng, 0x60, nicspec.WqeBytes/tlp.DWBytes, kit.Pick(rng, 0xff, 0xff, uint8(rng.Uint32())),
			nicspec.BarBase+uint64(nicspec.RegTxPush(rng.IntN(nicspec.RegTxPushCount)))+uint64(kit.Pick(rng, 0, 0, 0,
				4*rng.IntN(16))))
	case 1:
		return regsCalm(regsTLP(rng, kit.Pick(rng, uint8(0x20), 0x60), dws, uint8(rng.Uint32()), in))
	case 2:
		return regsCalm(regsTLP(rng, kit.Pick(rng, uint8(0x20), 0x60), kit.Pick(rng, 0, 3, 16, 1023, rng.IntN(1024)),
			0xff, in))
	case 3:
		return regsTLP(rng, kit.Pick(rng, uint8(0x20), 0x60), 1, 0xf, rng.Uint64())
	case 4:
		return regsTLP(rng, kit.Pick(rng, uint8(0x00), 0x40), 1, 0xf, in)
	case 5:
		p := regsTLP(rng, kit.Pick(rng, uint8(0x20), 0x60), 1, 0xf, in)
		p.Data[regsHdrAt+2] |= poisoned
		return regsCalm(p)
	}
	typ := uint8(rng.Uint32())
	for typ&0x1e == 0x0a { // a completion is no request: draw again
		typ = uint8(rng.Uint32())
	}
	return regsCalm(regsTLP(rng, typ, dws, kit.Pick(rng, uint8(0xf), 0xff, uint8(rng.Uint32())), in))
}

// regsCalm clears the reset bit in a write of CTRL.
func regsCalm(p kit.Packet) kit.Packet {
	if d := p.Data[regsDataAt:]; binary.BigEndian.Uint64(p.Data[regsHdrAt+8:]) == nicspec.BarBase+nicspec.RegCtrl {
		d[3] &= 0x7f
	}
	return p
}
