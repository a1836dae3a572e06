package blocks

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// Requests of account.
const (
	accountFrame = iota
	accountTable
	accountCredit
)

var account = &Block{
	Name: "account", RTL: "nic_account.sv", Go: "models/nic/core/account.go",
	Ops: []Op{
		accountFrame: {
			Name: "frame",
			Request: layout(num("op", 1), num("account_en", 1), num("account", 1), num("slow_queue", 1), num("queue", 2), num("hold", 1),
				num("settle", 1), num("passed", 1), num("port_seq", 4)),
			Result: layout(num("op", 1), num("slow_path", 1), num("queue", 2), num("port_seq", 4), num("account_seq", 4)),
		},
		accountTable: tableOp(&nicspec.AccountEntryInfo),
		accountCredit: {
			Name:    "credit",
			Request: layout(num("op", 1), num("written", 1), num("pair", 1), gap(5), num("lower", 4), num("upper", 4)),
			Result:  layout(num("op", 1), gap(7), num("lower", 4), num("upper", 4)),
		},
	},
	Stimulus: accountStimulus, Reference: accountReference,
}

// accountStimulus has little credit on few accounts, so that it is soon used up.
func accountStimulus(rng *rand.Rand, n int) (list []Packet) {
	ids := make([]int, 4)
	for i := range ids {
		ids[i] = rng.IntN(nicspec.NumAccounts)
	}
	for range n {
		id := pick(rng, ids...)
		switch rng.IntN(10) {
		case 0:
			list = append(list, tableRequest(accountTable, nicspec.TableAccount, pick(rng, id, rng.IntN(nicspec.NumAccounts)), nil))
		case 1:
			var b [nicspec.AccountEntrySize]byte
			e := nicspec.AccountEntryFields{
				Balance: credits(rng), Latch: pick(rng, 0, 1, 0, 1, uint8(rng.IntN(4))),
				Slow: uint8(rng.IntN(2)), Drawn: rng.Uint32(), Seq: rng.Uint32(), // which a write leaves out
			}
			e.Encode(b[:])
			list = append(list, tableRequest(accountTable, nicspec.TableAccount, id, b[:]))
		case 2, 3:
			list = append(list, accountCreditRequest(rng, id))
		default:
			b := []byte{
				accountFrame, flag(maybe(rng, 80)), uint8(id), uint8(rng.IntN(nicspec.DefaultBuild().NumRxq)), uint8(rng.IntN(nicspec.DefaultBuild().NumRxq)), 0,
				pick(rng, 0, 0, uint8(rng.IntN(6))), uint8(rng.IntN(6)), flag(maybe(rng, 80)),
			}
			list = append(list, Packet{Data: le.AppendUint32(b, rng.Uint32())})
		}
	}
	return list
}

// credits are few, or so many that a sum of them goes beyond what an account holds.
func credits(rng *rand.Rand) uint32 {
	return pick(rng, 0, uint32(rng.IntN(4)), uint32(rng.IntN(4)), nicspec.CreditMax-uint32(rng.IntN(3)), rng.Uint32N(nicspec.CreditMax+100))
}

func accountCreditRequest(rng *rand.Rand, id int) Packet {
	b := make([]byte, 16)
	b[0], b[1], b[2] = accountCredit, uint8(rng.IntN(4)), uint8(id/2)
	for i := 8; i < len(b); i += 4 {
		le.PutUint32(b[i:], credits(rng)&nicspec.CreditMax|rng.Uint32()&^nicspec.CreditMax)
	}
	return Packet{Data: b}
}

func accountReference() func(Packet) []Packet {
	regs := newRegs()
	return func(req Packet) []Packet {
		b := req.Data
		switch b[0] {
		case accountTable:
			return []Packet{tableAnswer(regs, req)}
		case accountCredit:
			res := make([]byte, 16)
			res[0] = b[0]
			for i := range 2 {
				reg := uint32(nicspec.RegAccountCredit(2*int(b[2]) + i))
				if b[1]>>i&1 != 0 {
					regs.Write32(reg, le.Uint32(b[8+4*i:]))
				}
				le.PutUint32(res[8+4*i:], regs.Read32(reg))
			}
			return []Packet{{Data: res}}
		}
		return []Packet{accountFrameResult(regs.Account(int(b[2])), b)}
	}
}

func accountFrameResult(a *core.Account, b []byte) Packet {
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
		le.PutUint32(res[8:], seq)
	}
	return Packet{Data: res}
}
