package kit

import (
	"encoding/binary"
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

var LittleEndian = binary.LittleEndian

const TableBytes = 4 * nicspec.TableWords

// TableOp returns the kind of request that writes or reads an entry of a table; info describes the table's entries.
func TableOp(info *nicspec.StructInfo) Op {
	rest := TableBytes - info.Bytes
	return Op{
		Name: "table " + info.Name,
		Request: NewLayout(Num("op", 1), Num("write", 1), Num("table", 1), Gap(1), Num("index", 2), Gap(2), Entry(info),
			Gap(rest)),
		Result: NewLayout(Num("op", 1), Code("status", tableStatusName), Gap(6), Entry(info), Gap(rest)),
	}
}

// TableRequest returns a request of TableOp's kind: a write of the given entry, or a read if e is nil.
func TableRequest(op uint8, t nicspec.Table, index int, e []byte) Packet {
	b := make([]byte, 8+TableBytes)
	b[0], b[2] = op, uint8(t)
	if e != nil {
		b[1] = 1
	}
	LittleEndian.PutUint16(b[4:], uint16(index))
	copy(b[8:], e)
	return Packet{Data: b}
}

// TableAnswer carries out a request of TableOp's kind on the registers of the Go NIC, and returns the result.
func TableAnswer(r *core.Regs, req Packet) Packet {
	b := req.Data
	for w := range uint32(nicspec.TableWords) {
		r.Write32(nicspec.RegTblDataBase+4*w, LittleEndian.Uint32(b[8+4*w:]))
	}
	var cmd nicspec.TblCmdReg
	cmd.SetTable(uint32(b[2]))
	cmd.SetIndex(uint32(LittleEndian.Uint16(b[4:])))
	cmd.SetOp(uint32(nicspec.TableOpRead))
	if b[1] != 0 {
		cmd.SetOp(uint32(nicspec.TableOpWrite))
	}
	e := r.Write32(nicspec.RegTblCmd, uint32(cmd))
	res := make([]byte, 8+TableBytes)
	res[0], res[1] = b[0], uint8(e.Status)
	if b[1] == 0 && e.Status == nicspec.TableStatusOk {
		for w := range uint32(nicspec.TableWords) {
			LittleEndian.PutUint32(res[8+4*w:], r.Read32(nicspec.RegTblDataBase+4*w))
		}
	}
	return Packet{Data: res}
}

// NewRegs returns the registers of a NIC of the default build.
func NewRegs() *core.Regs { return core.NewRegs(nicspec.DefaultBuild()) }

// Pick returns one of several values.
func Pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// Maybe returns true in the given percentage of cases.
func Maybe(rng *rand.Rand, percent int) bool { return rng.IntN(100) < percent }

// Noise returns n random bytes.
func Noise(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}
