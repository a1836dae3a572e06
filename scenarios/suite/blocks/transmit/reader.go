package transmit

import (
	"math/rand/v2"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// Kinds of requests of block reader, and faults of its completer.
const (
	readerRead = iota
	readerLook
)

const (
	faultNone = iota
	faultUnsupported
	faultAbort
	faultPoison
	faultBadCount
	faultBadLower
	faultNoData
	faultSilence
	faultKinds
)

const (
	readerSlots   = 4
	readerSlotBit = 30 // lowest bit of the slot number in an address
	readerMax     = 1024
	readerClients = 3
	readerTimeout = 1024
)

var Reader = &kit.Block{
	Name: "reader", RTL: "pcie/nic_reader.sv", Go: "models/nic/core/reader.go",
	Ops: []kit.Op{
		readerRead: {
			Name: "read",
			Request: kit.NewLayout(kit.Num("op", 1), kit.Num("client", 1), kit.Num("fault", 1), kit.Num("late", 1),
				kit.Num("len", 2), kit.Gap(2), kit.Num("addr", 8)),
			Result: kit.NewLayout(kit.Num("op", 1), kit.Num("client", 1), kit.Code("status", kit.StatusName),
				kit.Num("illegal", 1), kit.Num("strange", 1), kit.Gap(1),
				kit.Num("bytes", 2)).WithTail("data"),
		},
		readerLook: {
			Name:    "look",
			Request: kit.NewLayout(kit.Num("op", 1), kit.Gap(5), kit.Num("mrrs", 2)),
			Result: kit.NewLayout(kit.Num("op", 2), kit.Num("cpl_err", 2), kit.Num("cpl_timeouts", 2),
				kit.Num("cpl_unexpected", 2)),
		},
	},
	Stimulus: readerStimulus, Reference: readerReference,
}

// readerStimulus returns reads of any alignment, many of them across pages; most are answered correctly.
func readerStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	slot := uint64(0)
	for range n {
		b := make([]byte, 16)
		if kit.Maybe(rng, 10) {
			b[0] = readerLook
			kit.LittleEndian.PutUint16(b[6:], 128<<rng.IntN(6))
			list = append(list, kit.Packet{Data: b})
			continue
		}
		size := 1 + kit.Pick(rng, rng.IntN(16), rng.IntN(300), rng.IntN(readerMax))
		addr := kit.Pick(rng, 0, uint64(rng.Uint32()), rng.Uint64())<<32 | uint64(rng.Uint32())
		if kit.Maybe(rng, 40) {
			addr = addr&^(tlp.PageBytes-1) + tlp.PageBytes - uint64(rng.IntN(size+1))
		}
		addr = addr&^(3<<readerSlotBit) | slot<<readerSlotBit
		if end := addr + uint64(size); end>>readerSlotBit != addr>>readerSlotBit { // the read would end in another slot
			addr -= readerMax
		}
		slot = (slot + 1) % readerSlots
		b[1], b[3] = uint8(rng.IntN(readerClients)), kit.Flag(kit.Maybe(rng, 50))
		if kit.Maybe(rng, 15) {
			b[2] = uint8(rng.IntN(faultKinds))
		}
		kit.LittleEndian.PutUint16(b[4:], uint16(size))
		kit.LittleEndian.PutUint64(b[8:], addr)
		list = append(list, kit.Packet{Data: b})
	}
	return list
}

// readerByte returns the content of memory at an address.
func readerByte(addr uint64) byte {
	return byte(addr) ^ (byte(addr>>8)<<4 | byte(addr>>12)&15) ^ byte(addr>>24)
}

// readerState is the Go NIC's read side and its counters.
type readerState struct {
	*core.Reader
	mrrs          int
	cycle         int64
	errs, expired uint16
}

func readerReference() func(kit.Packet) []kit.Packet {
	s := readerState{Reader: core.NewReader(256), mrrs: 512}
	return func(req kit.Packet) []kit.Packet {
		b := req.Data
		if b[0] == readerLook {
			s.mrrs = int(kit.LittleEndian.Uint16(b[6:]))
			res := kit.LittleEndian.AppendUint16([]byte{readerLook, 0}, s.errs)
			return []kit.Packet{{Data: append(kit.LittleEndian.AppendUint16(res, s.expired), 0, 0)}}
		}
		res := make([]byte, 8+readerMax)
		res[1] = b[1]
		var rd core.Read
		rd.Begin(kit.LittleEndian.Uint64(b[8:]), res[8:8+kit.LittleEndian.Uint16(b[4:])])
		if s.read(&rd, b[2], b[3] != 0); rd.Status != nicspec.StatusOk {
			clear(res[8:])
			res[2] = uint8(rd.Status)
		} else {
			copy(res[6:8], b[4:6])
		}
		return []kit.Packet{{Data: res}}
	}
}

// read carries out a transfer request by request, with the completions of each.
func (s *readerState) read(rd *core.Read, fault uint8, late bool) {
	for rd.Wants() {
		s.cycle += 2 * readerTimeout // past the time for which a tag that timed out is not reused
		s.CanIssue(s.cycle)
		h := s.Issue(rd, s.mrrs)
		s.Accepted(h.Tag, s.cycle, readerTimeout)
		off, left := h.Span()
		for addr := h.Address + uint64(off); left > 0; {
			const rcb = 64
			n := min(left, rcb-int(addr%rcb))
			now := faultNone
			if !late || n == left {
				now, fault = int(fault), faultNone
			}
			if now == faultSilence {
				for s.Expire(s.cycle+readerTimeout, readerTimeout) != nil {
					s.expired++
				}
				break
			}
			c, data := readerCompletion(&h, addr, n, left, now)
			if _, r := s.Complete(&c, data, s.cycle+1, s.cycle+1, readerTimeout); r == core.CplFailed {
				s.errs++
				break
			}
			addr, left = addr+uint64(n), left-n
		}
	}
}

// readerCompletion returns the completion with n bytes at addr, of a request that still lacks `left` bytes.
func readerCompletion(h *tlp.Header, addr uint64, n, left, fault int) (tlp.Header, []byte) {
	c := tlp.Header{
		Kind: tlp.CplD, RequesterID: h.RequesterID, Tag: h.Tag, ByteCount: uint16(left), LowerAddr: uint8(addr) & 0x7f,
		EP: fault == faultPoison,
	}
	var data []byte
	for a := addr &^ (tlp.DWBytes - 1); a < addr+uint64(n) || a%tlp.DWBytes != 0; a++ {
		data = append(data, readerByte(a))
	}
	switch fault {
	case faultUnsupported:
		c.Status = tlp.StatusUR
	case faultAbort:
		c.Status = tlp.StatusCA
	case faultBadCount:
		c.ByteCount++
	case faultBadLower:
		c.LowerAddr ^= 0x10
	}
	if fault == faultUnsupported || fault == faultAbort || fault == faultNoData {
		c.Kind, data = tlp.Cpl, nil
	}
	c.Length = uint16(len(data) / tlp.DWBytes)
	return c, data
}
