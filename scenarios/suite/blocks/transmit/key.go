package transmit

import (
	"math/rand/v2"

	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// Kinds of requests of block key.
const (
	keyPiece = iota
	keyTable
)

var Key = &kit.Block{
	Name: "key", RTL: "workqueues/nic_key.sv", Go: "models/nic/core/key.go",
	Ops: []kit.Op{
		keyPiece: {
			Name: "piece",
			Request: kit.NewLayout(kit.Num("op", 1), kit.Num("read", 1), kit.Num("write", 1), kit.Gap(5),
				kit.Num("key", 4), kit.Num("length", 4), kit.Num("address", 8)),
			Result: kit.NewLayout(kit.Num("op", 1), kit.Code("status", kit.StatusName), kit.Gap(6),
				kit.Num("bus_address", 8)),
		},
		keyTable: kit.TableOp(&nicspec.KeyEntryInfo),
	},
	Stimulus: keyStimulus,
	Reference: func() func(kit.Packet) []kit.Packet {
		regs := kit.NewRegs()
		return func(req kit.Packet) []kit.Packet {
			b := req.Data
			if b[0] == keyTable {
				return []kit.Packet{kit.TableAnswer(regs, req)}
			}
			res := make([]byte, 16)
			bus, s := regs.Keys().Resolve(kit.LittleEndian.Uint32(b[8:]), kit.LittleEndian.Uint64(b[16:]),
				kit.LittleEndian.Uint32(b[12:]), dma.Access{Read: b[1] != 0, Write: b[2] != 0})
			if res[1] = uint8(s); s == nicspec.StatusOk {
				kit.LittleEndian.PutUint64(res[8:], bus)
			}
			return []kit.Packet{{Data: res}}
		}
	},
}

// keyStimulus writes and reads few keys, and looks up pieces at the limits of the keys written.
func keyStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	k := newKeyring(rng)
	for range n {
		if kit.Maybe(rng, 25) {
			list = append(list, k.command(keyTable))
			continue
		}
		b := make([]byte, 24)
		b[1], b[2] = kit.Flag(kit.Maybe(rng, 70)), kit.Flag(kit.Maybe(rng, 40))
		word, addr, length := k.piece(1 << 24)
		kit.LittleEndian.PutUint32(b[8:], word)
		kit.LittleEndian.PutUint32(b[12:], length)
		kit.LittleEndian.PutUint64(b[16:], addr)
		list = append(list, kit.Packet{Data: b})
	}
	return list
}

// keyring draws memory keys, and pieces that use them.
type keyring struct {
	*rand.Rand
	keys map[int]nicspec.KeyEntryFields // as written last, accepted or not
}

func newKeyring(rng *rand.Rand) *keyring { return &keyring{rng, map[int]nicspec.KeyEntryFields{}} }

// index draws an index of the table, one of a few in most cases.
func (k *keyring) index() int {
	if kit.Maybe(k.Rand, 95) {
		return k.IntN(5)
	}
	return k.IntN(nicspec.DefaultBuild().NumKeys)
}

// command returns a command of table Key.
func (k *keyring) command(op uint8) kit.Packet {
	i := k.index()
	if kit.Maybe(k.Rand, 30) {
		return kit.TableRequest(op, nicspec.TableKey, i, nil)
	}
	const offsets = uint64(1) << nicspec.EndpointShift
	f := nicspec.KeyEntryFields{
		Valid: 1, RightRead: kit.Maybe(k.Rand, 92), RightWrite: kit.Maybe(k.Rand, 75), Variant: uint8(k.IntN(3)),
		VaBase:  kit.Pick(k.Rand, 0, k.Uint64(), k.Uint64()>>20, -uint64(k.IntN(1<<20))),
		Length:  kit.Pick(k.Rand, uint64(k.IntN(65)), k.Uint64()>>39, k.Uint64()>>40, k.Uint64()>>44),
		BusBase: kit.Pick(k.Rand, k.Uint64()>>8, uint64(k.IntN(4))<<nicspec.EndpointShift|k.Uint64()>>16),
	}
	switch k.IntN(20) {
	case 0: // reach the end of the address space, or just beyond
		f.Length = 1 + uint64(k.IntN(1<<16))
		f.VaBase = -f.Length + uint64(k.IntN(2))
	case 1, 2, 3: // reach the end of the endpoint's memory, or just beyond
		f.Length = kit.Pick(k.Rand, 1+uint64(k.IntN(1<<16)), nicspec.LineBytes*(1+uint64(k.IntN(1<<10))))
		f.BusBase = uint64(1+k.IntN(2))*offsets - f.Length + uint64(k.IntN(2))
	case 4:
		f.Valid = uint8(k.IntN(4))
	case 5:
		f.Length = k.Uint64()
	}
	k.keys[i] = f
	b := kit.Noise(k.Rand, kit.TableBytes) // words beyond the entry are ignored
	f.Encode(b[:nicspec.KeyEntrySize])
	return kit.TableRequest(op, nicspec.TableKey, i, b)
}

// piece returns a key, an address and a length in bytes from 1 to `most`, near the limits of the key.
func (k *keyring) piece(most uint64) (word uint32, addr uint64, length uint32) {
	i := k.index()
	f := k.keys[i]
	word = uint32(i) | uint32(f.Variant)<<24
	switch k.IntN(40) {
	case 0:
		word ^= 1 << (24 + k.IntN(3))
	case 1:
		word = k.Uint32() &^ 0xff0000
	}
	n := 1 + k.Uint64N(most)
	if f.Length > 0 && kit.Maybe(k.Rand, 95) {
		n = 1 + k.Uint64N(min(f.Length, most))
	}
	addr = f.VaBase
	switch off := f.Length - n; k.IntN(25) {
	case 0:
		addr += off
	case 1:
		addr += off + 1
	case 2:
		addr--
	case 3:
		addr = k.Uint64()
	default:
		if off < f.Length {
			addr += k.Uint64N(off + 1)
		}
	}
	return word, addr, uint32(n)
}
