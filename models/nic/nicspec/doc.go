// Package nicspec is the NIC's contract as data: every register, table entry, descriptor, completion entry, code
// and counter of nic.yaml, as Go. docs/nic.md says what they do; docs/nic-tables.md lists them.
//
// It holds no behaviour: nothing here decides whether a value is allowed, what a register write does or when. It
// imports nothing of ours, and the readers of nic.yaml (packages schema and emit) are not linked into its users.
//
// # Contents
//
// Names come from nic.yaml: TBL_CMD and hdr_addr become TblCmd and HdrAddr.
//
//   - Constants: ContractVersion, BarBase, FrameMax... are untyped.
//   - Enums: type Opcode uint8 with OpcodeNop, OpcodeSend...; String, Known (the code has a name) and, where
//     codes belong to optional parts, Part.
//   - Registers: RegCtrl is a byte offset in BAR0, ResetCtrl the value after reset. An array has RegCounterBase,
//     RegCounterCount, RegCounterStride and RegCounter(i), which panics out of bounds. Registers lists all;
//     RegisterAt(off) finds one, with entry and byte inside it. A register with fields has a value type:
//     CtrlReg(v).RxEnable(), (*CtrlReg).SetRxEnable(true), CtrlRegMask.
//   - Structures: type Wqe []byte is a view of WqeSize bytes: Wqe(b).Opcode(), Wqe(b).SetOpcode(OpcodeSend). A bit is
//     a bool, a code its enum, a number the smallest unsigned integer, a byte string a []byte that aliases the
//     view (its Set fills up with zeros). Accessors panic if the view is too short: check len against WqeSize for
//     bytes from outside. WqeFields holds the same as plain values: DecodeWqe(b), (*WqeFields).Encode(dst). No
//     accessor allocates.
//   - Comparing and printing: DiffWqe(exp, got) names the first field that differs; Wqe.String lists what is not
//     zero; WqeInfo is the field table behind both, Structs all of them.
//   - Counters: CntRxFrames.Index(port), CntTxWqe.Index() are indices of the COUNTER registers; Counters lists
//     all, DropCounters those for drops, CounterAt and CounterName go back from an index.
//
// # Invariants
//
// Setting a field changes no bit of another field. Encode zeros the bits that belong to no field, so Decode and
// Encode give the same bytes back if reserved bits are zero. Files named *_gen.go, verilator/rtl/packages/nic_pkg.sv
// and docs/nic-tables.md are generated and never edited; a test fails when they are not what nic.yaml generates.
package nicspec

//go:generate go run ./gen
