package receive

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// Kinds of requests of block account.
const (
	accountFrame = iota
	accountTable
	accountCredit
)

var Account = &kit.Block{
	Name: "account", RTL: "receive/nic_account.sv", Go: "models/nic/core/account.go",
	Ops: []kit.Op{
		accountFrame: {
			Name: "frame",
			Request: kit.NewLayout(kit.Num("op", 1), kit.Num("account_en", 1), kit.Num("account", 1),
				kit.Num("slow_queue", 1), kit.Num("queue", 2), kit.Num("hold", 1),
				kit.Num("settle", 1), kit.Num("passed", 1), kit.Num("port_seq", 4)),
			Result: kit.NewLayout(kit.Num("op", 1), kit.Num("slow_path", 1), kit.Num("queue", 2),
				kit.Num("port_seq", 4), kit.Num("account_seq", 4)),
		},
		accountTable: kit.TableOp(&nicspec.AccountEntryInfo),
		accountCredit: {
			Name: "credit",
			Request: kit.NewLayout(kit.Num("op", 1), kit.Num("written", 1), kit.Num("pair", 1), kit.Gap(5),
				kit.Num("lower", 4), kit.Num("upper", 4)),
			Result: kit.NewLayout(kit.Num("op", 1), kit.Gap(7), kit.Num("lower", 4), kit.Num("upper", 4)),
		},
	},
	Stimulus: accountStimulus, Reference: accountReference,
}

// accountStimulus gives little credit to few accounts, so that it is soon used up.
func accountStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	ids := make([]int, 4)
	for i := range ids {
		ids[i] = rng.IntN(nicspec.NumAccounts)
	}
	for range n {
		id := kit.Pick(rng, ids...)
		switch rng.IntN(10) {
		case 0:
			list = append(list,
				kit.TableRequest(accountTable, nicspec.TableAccount, kit.Pick(rng, id, rng.IntN(nicspec.NumAccounts)),
					nil))
		case 1:
			var b [nicspec.AccountEntrySize]byte
			e := nicspec.AccountEntryFields{
				Balance: kit.Credits(rng), Latch: kit.Pick(rng, 0, 1, 0, 1, uint8(rng.IntN(4))),
				Slow: uint8(rng.IntN(2)), Drawn: rng.Uint32(), Seq: rng.Uint32(), // ignored by a write
			}
			e.Encode(b[:])
			list = append(list, kit.TableRequest(accountTable, nicspec.TableAccount, id, b[:]))
		case 2, 3:
			list = append(list, accountCreditRequest(rng, id))
		default:
			b := []byte{
				accountFrame, kit.Flag(kit.Maybe(rng, 80)), uint8(id), uint8(rng.IntN(nicspec.DefaultBuild().NumRxq)),
				uint8(rng.IntN(nicspec.DefaultBuild().NumRxq)), 0,
				kit.Pick(rng, 0, 0, uint8(rng.IntN(6))), uint8(rng.IntN(6)), kit.Flag(kit.Maybe(rng, 80)),
			}
			list = append(list, kit.Packet{Data: kit.LittleEndian.AppendUint32(b, rng.Uint32())})
		}
	}
	return list
}

func accountCreditRequest(rng *rand.Rand, id int) kit.Packet {
	b := make([]byte, 16)
	b[0], b[1], b[2] = accountCredit, uint8(rng.IntN(4)), uint8(id/2)
	for i := 8; i < len(b); i += 4 {
		kit.LittleEndian.PutUint32(b[i:], kit.Credits(rng)&nicspec.CreditMax|rng.Uint32()&^nicspec.CreditMax)
	}
	return kit.Packet{Data: b}
}

func accountReference() func(kit.Packet) []kit.Packet {
	regs := kit.NewRegs()
	return func(req kit.Packet) []kit.Packet {
		b := req.Data
		switch b[0] {
		case accountTable:
			return []kit.Packet{kit.TableAnswer(regs, req)}
		case accountCredit:
			res := make([]byte, 16)
			res[0] = b[0]
			for i := range 2 {
				reg := uint32(nicspec.RegAccountCredit(2*int(b[2]) + i))
				if b[1]>>i&1 != 0 {
					regs.Write32(reg, kit.LittleEndian.Uint32(b[8+4*i:]))
				}
				kit.LittleEndian.PutUint32(res[8+4*i:], regs.Read32(reg))
			}
			return []kit.Packet{{Data: res}}
		}
		return []kit.Packet{accountFrameResult(regs.Account(int(b[2])), b)}
	}
}

func accountFrameResult(a *core.Account, b []byte) kit.Packet {
	res := make([]byte, 12)
	copy(res[2:4], b[4:6])
	copy(res[4:8], b[9:13])
	if b[1] != 0 {
		fast, seq := a.Look(), a.Seq
		if b[8] != 0 {
			seq = a.Draw(fast)
		}
		if !fast {
			res[1], res[2], res[3] = 1, b[3], 0
		}
		kit.LittleEndian.PutUint32(res[8:], seq)
	}
	return kit.Packet{Data: res}
}
