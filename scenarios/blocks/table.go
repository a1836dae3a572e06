package blocks

import (
	"encoding/binary"
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

var le = binary.LittleEndian

const tableBytes = 4 * nicspec.TableWords

// tableOp is the kind of request that is a command of the table with these entries.
func tableOp(info *nicspec.StructInfo) Op {
	rest := tableBytes - info.Bytes
	return Op{
		Name:    "table " + info.Name,
		Request: layout(num("op", 1), num("write", 1), num("table", 1), gap(1), num("index", 2), gap(2), entry(info), gap(rest)),
		Result:  layout(num("op", 1), code("status", tableStatusName), gap(6), entry(info), gap(rest)),
	}
}

// tableRequest is such a request. A read has no entry.
func tableRequest(op uint8, t nicspec.Table, index int, e []byte) Packet {
	b := make([]byte, 8+tableBytes)
	b[0], b[2] = op, uint8(t)
	if e != nil {
		b[1] = 1
	}
	le.PutUint16(b[4:], uint16(index))
	copy(b[8:], e)
	return Packet{Data: b}
}

// tableAnswer has the registers of the Go NIC carry out such a request.
func tableAnswer(r *core.Regs, req Packet) Packet {
	b := req.Data
	for w := range uint32(nicspec.TableWords) {
		r.Write32(nicspec.RegTblDataBase+4*w, le.Uint32(b[8+4*w:]))
	}
	var cmd nicspec.TblCmdReg
	cmd.SetTable(uint32(b[2]))
	cmd.SetIndex(uint32(le.Uint16(b[4:])))
	cmd.SetOp(uint32(nicspec.TableOpRead))
	if b[1] != 0 {
		cmd.SetOp(uint32(nicspec.TableOpWrite))
	}
	e := r.Write32(nicspec.RegTblCmd, uint32(cmd))
	res := make([]byte, 8+tableBytes)
	res[0], res[1] = b[0], uint8(e.Status)
	if b[1] == 0 && e.Status == nicspec.TableStatusOk {
		for w := range uint32(nicspec.TableWords) {
			le.PutUint32(res[8+4*w:], r.Read32(nicspec.RegTblDataBase+4*w))
		}
	}
	return Packet{Data: res}
}

// newRegs are the registers of a NIC of the default build.
func newRegs() *core.Regs { return core.NewRegs(nicspec.DefaultBuild()) }

// pick is one of several values.
func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// maybe holds in so many percent of cases.
func maybe(rng *rand.Rand, percent int) bool { return rng.IntN(100) < percent }

// noise is n random bytes.
func noise(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}
