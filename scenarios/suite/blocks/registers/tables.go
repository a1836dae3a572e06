package registers

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// Kinds of requests of block tables.
const (
	tablesWrite = iota
	tablesRead
	tablesQuiet
	tablesBytes = 16 // bytes of a request, and of a result
)

var Tables = &kit.Block{
	Name: "tables", RTL: "registers/nic_tables.sv", Go: "models/nic/core/tables.go",
	Ops: []kit.Op{
		tablesWrite: {
			Name: "write",
			Request: kit.NewLayout(kit.Num("op", 2), kit.Num("written", 2), kit.Num("unit", 2), kit.Gap(2),
				kit.Num("lower", 4), kit.Num("upper", 4)),
			Result: kit.NewLayout(kit.Num("op", 2)),
		},
		tablesRead: {
			Name:    "read",
			Request: kit.NewLayout(kit.Num("op", 2), kit.Gap(2), kit.Num("unit", 2)),
			Result: kit.NewLayout(kit.Num("op", 2), kit.Gap(2), kit.Num("unit", 2), kit.Num("reg_bad", 2),
				kit.Num("lower", 4), kit.Num("upper", 4)),
		},
		tablesQuiet: {
			Name:    "quiet",
			Request: kit.NewLayout(kit.Num("op", 2), kit.Gap(4), kit.Num("quiet", 2)),
			Result:  kit.NewLayout(kit.Num("op", 2)),
		},
	},
	Stimulus: tablesStimulus, Reference: tablesReference,
}

// tablesSpec returns a build that lacks some parts, so that their tables and fields are refused as NotBuilt.
func tablesSpec() nicspec.Build {
	s := nicspec.DefaultBuild()
	s.Parts &^= nicspec.PartRss | nicspec.PartEcn | nicspec.PartPause
	return s
}

// tablesStimulus returns complete commands, and single accesses outside of commands, also while a queue that is being
// disabled drains.
func tablesStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	for len(list) < n {
		switch rng.IntN(8) {
		case 0:
			list = append(list, tablesAccess(tablesWrite, tablesUnit(rng), rng.IntN(4), rng.Uint64()))
		case 1:
			list = append(list, tablesAccess(tablesRead, tablesUnit(rng), 0, 0))
		case 2:
			p := tablesAccess(tablesQuiet, 0, 0, 0)
			p.Data[6] = uint8(rng.IntN(2))
			list = append(list, p)
		default:
			list = append(list, tablesCommand(rng, tablesKinds)...)
		}
	}
	return list[:n]
}

func tablesAccess(op uint8, unit, written int, value uint64) kit.Packet {
	b := make([]byte, tablesBytes)
	b[0], b[2] = op, uint8(written)
	kit.LittleEndian.PutUint16(b[4:], uint16(unit))
	kit.LittleEndian.PutUint64(b[8:], value)
	return kit.Packet{Data: b}
}

// tablesUnit draws the number of an aligned pair of registers, in most cases a pair of TBL_CMD or TBL_DATA.
func tablesUnit(rng *rand.Rand) int {
	const cmd, data, units = nicspec.RegTblCmd / 8, nicspec.RegTblDataBase / 8, nicspec.TableWords / 2
	return kit.Pick(rng, cmd, cmd, cmd+1, data-1, data+rng.IntN(units), data+rng.IntN(units), data+rng.IntN(units))
}

// tablesCommand writes TBL_DATA, starts a command and reads its outcome.
func tablesCommand(rng *rand.Rand, kinds int) (list []kit.Packet) {
	var cmd nicspec.TblCmdReg
	t, index, e := tablesEntry(rng, kinds)
	cmd.SetTable(uint32(t))
	cmd.SetIndex(uint32(index))
	cmd.SetOp(uint32(kit.Pick(rng, nicspec.TableOpWrite, nicspec.TableOpWrite, nicspec.TableOpRead,
		nicspec.TableOpRead)))
	if kit.Maybe(rng, 5) {
		cmd.SetOp(uint32(kit.Pick(rng, nicspec.TableOpNone, nicspec.TableOpRead+1)))
	}
	if nicspec.TableOp(cmd.Op()) == nicspec.TableOpWrite {
		for at := 0; at < len(e); at += 8 {
			unit, v := (nicspec.RegTblDataBase+at)/8, kit.LittleEndian.Uint64(e[at:])
			if kit.Maybe(rng, 80) {
				list = append(list, tablesAccess(tablesWrite, unit, 3, v))
			} else {
				list = append(list, tablesAccess(tablesWrite, unit, 2, v), tablesAccess(tablesWrite, unit, 1, v))
			}
		}
	}
	list = append(list, tablesAccess(tablesWrite, nicspec.RegTblCmd/8, 1+2*rng.IntN(2), uint64(cmd)|rng.Uint64()<<32))
	list = append(list, tablesAccess(tablesRead, nicspec.RegTblCmd/8, 0, 0))
	for range rng.IntN(8) {
		list = append(list, tablesAccess(tablesRead, nicspec.RegTblDataBase/8+rng.IntN(nicspec.TableWords/2), 0, 0))
	}
	return list
}

// Kinds of commands; the last ones are for Rxq and for parts that are not built.
const (
	tablesKinds  = 8
	tablesSimple = 4
)

// tablesEntry draws a table, an index and an entry for it; some indices are beyond the table, and some tables do not
// exist.
func tablesEntry(rng *rand.Rand, kinds int) (t nicspec.Table, index int, e []byte) {
	s := nicspec.DefaultBuild()
	switch rng.IntN(kinds) {
	case 0:
		const beyond = 1 << 12
		return nicspec.Table(rng.Uint32()), beyond + rng.IntN(1<<16-beyond), kit.Noise(rng, 8)
	case 1:
		t, index, e = nicspec.TableAccount, kit.Pick(rng, 0, 5, nicspec.NumAccounts-1, nicspec.NumAccounts),
			make([]byte, nicspec.AccountEntrySize)
		f := nicspec.AccountEntryFields{Balance: kit.Credits(rng), Latch: uint8(rng.IntN(3))}
		f.Encode(e)
	case 2, 3:
		t, index, e = nicspec.TableKey, kit.Pick(rng, 0, 7, s.NumKeys-1, s.NumKeys), make([]byte, nicspec.KeyEntrySize)
		f := nicspec.KeyEntryFields{
			Valid: kit.Pick(rng, 0, 1, 1, uint8(rng.IntN(3))), RightRead: kit.Maybe(rng, 50),
			RightWrite: kit.Maybe(rng, 50), Variant: uint8(rng.Uint32()),
			VaBase: rng.Uint64(), Length: rng.Uint64() >> rng.IntN(64), BusBase: rng.Uint64(),
		}
		f.Encode(e)
	case 4:
		return kit.Pick(rng, nicspec.TableIndirection, nicspec.TablePortCfg), rng.IntN(4), kit.Noise(rng, 8)
	default:
		t, index, e = nicspec.TableRxq, kit.Pick(rng, 0, 0, 1, 9, s.NumRxq-1, s.NumRxq),
			make([]byte, nicspec.RxqEntrySize)
		f := kit.RxqEntry(rng)
		f.Encode(e)
	}
	return t, index, e
}

func tablesReference() func(kit.Packet) []kit.Packet {
	regs, quiet := core.NewRegs(tablesSpec()), true
	return func(req kit.Packet) []kit.Packet {
		b := req.Data
		unit := 8 * uint32(kit.LittleEndian.Uint16(b[4:]))
		switch b[0] {
		case tablesWrite:
			for i := range uint32(2) {
				if b[2]>>i&1 != 0 {
					regs.Write32(unit+4*i, kit.LittleEndian.Uint32(b[8+4*i:]))
				}
			}
		case tablesQuiet:
			quiet = b[6] != 0
		case tablesRead:
			res := make([]byte, tablesBytes)
			res[0] = b[0]
			copy(res[4:], b[4:6])
			kit.LittleEndian.PutUint16(res[6:], uint16(regs.Dev(nicspec.CntRegBad)))
			kit.LittleEndian.PutUint32(res[8:], regs.Read32(unit))
			kit.LittleEndian.PutUint32(res[12:], regs.Read32(unit+4))
			return []kit.Packet{{Data: res}}
		}
		if quiet {
			regs.Drained()
		}
		return nil
	}
}
