// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "fmt"

// Byte offsets of the registers in BAR0; an array has base, count and stride.
const (
	RegId                  = 0x000   // ro: device magic
	RegVersion             = 0x004   // ro: contract version
	RegCap0                = 0x008   // ro: sizes of this build
	RegCap1                = 0x00c   // ro: optional parts of this build; a bit is set if the part is built
	RegCtrl                = 0x010   // rw: switches of the whole device
	RegStatus              = 0x014   // ro: activity
	RegDevctl              = 0x018   // rw: PCIe limits and attributes; may be changed at any time
	RegCplTimeout          = 0x01c   // rw: completion timeout in cycles, 1,024 at least (smaller values count as 1,024)
	RegRxCtrl              = 0x020   // rw: frames to drop instead of delivering them
	RegRxDefault           = 0x024   // rw: treatment of frames that no rule matches
	RegRocePort            = 0x028   // rw: UDP destination port of RoCEv2, bits 15:0
	RegScratch             = 0x02c   // rw: for the driver; no effect
	RegTblCmd              = 0x040   // rw: table command; a write starts it, a read returns its status
	RegTblDataBase         = 0x080   // rw: staging window of table commands, word i
	RegTblDataCount        = 32      // number of registers
	RegTblDataStride       = 4       // bytes from one register to the next
	RegRssKeyBase          = 0x100   // rw: Toeplitz key, first byte first (part rss)
	RegRssKeyCount         = 10      // number of registers
	RegRssKeyStride        = 4       // bytes from one register to the next
	RegPortMacBase         = 0x200   // rw: source address of pause frames: two words per port (part pause)
	RegPortMacCount        = 4       // number of registers
	RegPortMacStride       = 4       // bytes from one register to the next
	RegCounterBase         = 0x1000  // ro: 64-bit counters, by counter index; both DWs of one read are of the same cycle
	RegCounterCount        = 256     // number of registers
	RegCounterStride       = 8       // bytes from one register to the next
	RegRuleHitsBase        = 0x2000  // ro: frames that rule i matched; frames dropped by earlier checks do not count
	RegRuleHitsCount       = 256     // number of registers
	RegRuleHitsStride      = 8       // bytes from one register to the next
	RegAccountCreditBase   = 0x4000  // rw: write: bits 23:0 credits to add, or with bit 30 (take) to subtract, bit 31 resume; read: bits 23:0 balance, bit 31 slow (part accounts)
	RegAccountCreditCount  = 64      // number of registers
	RegAccountCreditStride = 4       // bytes from one register to the next
	RegRxDoorbellBase      = 0x8000  // wo: bits 15:0: producer index of receive queue i
	RegRxDoorbellCount     = 256     // number of registers
	RegRxDoorbellStride    = 4       // bytes from one register to the next
	RegTxDoorbellBase      = 0x9000  // wo: bits 15:0: producer index of transmit queue i
	RegTxDoorbellCount     = 256     // number of registers
	RegTxDoorbellStride    = 4       // bytes from one register to the next
	RegTxPushBase          = 0x10000 // wo: 64 B block of a work entry of transmit queue i, pushed whole (part push)
	RegTxPushCount         = 256     // number of registers
	RegTxPushStride        = 64      // bytes from one register to the next
)

// Values of the registers after reset.
const (
	ResetId         = 0x5443494e
	ResetVersion    = 0x20000
	ResetCtrl       = 0x0
	ResetDevctl     = 0x21
	ResetCplTimeout = 0x10000
	ResetRxCtrl     = 0x0
	ResetRxDefault  = 0x0
	ResetRocePort   = 0x12b7
	ResetScratch    = 0x0
	ResetTblCmd     = 0x0
	ResetTblData    = 0x0
	ResetRssKey     = 0x0
	ResetPortMac    = 0x0
)

func entry(name string, base, i, count, stride int) uint32 {
	if uint(i) >= uint(count) {
		panic(fmt.Sprintf("nicspec: register %s[%d], but entries are 0..%d", name, i, count-1))
	}
	return uint32(base + i*stride)
}

// RegTblData returns the byte offset of TBL_DATA[i]; it panics when i is not in 0..31.
func RegTblData(i int) uint32 {
	return entry("TBL_DATA", RegTblDataBase, i, RegTblDataCount, RegTblDataStride)
}

// RegRssKey returns the byte offset of RSS_KEY[i]; it panics when i is not in 0..9.
func RegRssKey(i int) uint32 {
	return entry("RSS_KEY", RegRssKeyBase, i, RegRssKeyCount, RegRssKeyStride)
}

// RegPortMac returns the byte offset of PORT_MAC[i]; it panics when i is not in 0..3.
func RegPortMac(i int) uint32 {
	return entry("PORT_MAC", RegPortMacBase, i, RegPortMacCount, RegPortMacStride)
}

// RegCounter returns the byte offset of COUNTER[i]; it panics when i is not in 0..255.
func RegCounter(i int) uint32 {
	return entry("COUNTER", RegCounterBase, i, RegCounterCount, RegCounterStride)
}

// RegRuleHits returns the byte offset of RULE_HITS[i]; it panics when i is not in 0..255.
func RegRuleHits(i int) uint32 {
	return entry("RULE_HITS", RegRuleHitsBase, i, RegRuleHitsCount, RegRuleHitsStride)
}

// RegAccountCredit returns the byte offset of ACCOUNT_CREDIT[i]; it panics when i is not in 0..63.
func RegAccountCredit(i int) uint32 {
	return entry("ACCOUNT_CREDIT", RegAccountCreditBase, i, RegAccountCreditCount, RegAccountCreditStride)
}

// RegRxDoorbell returns the byte offset of RX_DOORBELL[i]; it panics when i is not in 0..255.
func RegRxDoorbell(i int) uint32 {
	return entry("RX_DOORBELL", RegRxDoorbellBase, i, RegRxDoorbellCount, RegRxDoorbellStride)
}

// RegTxDoorbell returns the byte offset of TX_DOORBELL[i]; it panics when i is not in 0..255.
func RegTxDoorbell(i int) uint32 {
	return entry("TX_DOORBELL", RegTxDoorbellBase, i, RegTxDoorbellCount, RegTxDoorbellStride)
}

// RegTxPush returns the byte offset of TX_PUSH[i]; it panics when i is not in 0..255.
func RegTxPush(i int) uint32 {
	return entry("TX_PUSH", RegTxPushBase, i, RegTxPushCount, RegTxPushStride)
}

// Cap0Reg is the value of register CAP0: sizes of this build.
type Cap0Reg uint32

// Cap0RegMask has a one for every bit of CAP0 that belongs to a field.
const Cap0RegMask Cap0Reg = 0xffffffff

// Ports returns bits 3:0: Ethernet ports.
func (r Cap0Reg) Ports() uint32 { return uint32(r & 0xf) }

// SetPorts sets ports to the low 4 bits of v.
func (r *Cap0Reg) SetPorts(v uint32) { *r = *r&^0xf | Cap0Reg(v)&0xf }

// LogRxq returns bits 7:4: log2 of the receive queues.
func (r Cap0Reg) LogRxq() uint32 { return uint32(r >> 4 & 0xf) }

// SetLogRxq sets log_rxq to the low 4 bits of v.
func (r *Cap0Reg) SetLogRxq(v uint32) { *r = *r&^0xf0 | Cap0Reg(v)&0xf<<4 }

// LogTxq returns bits 11:8: log2 of the transmit queues.
func (r Cap0Reg) LogTxq() uint32 { return uint32(r >> 8 & 0xf) }

// SetLogTxq sets log_txq to the low 4 bits of v.
func (r *Cap0Reg) SetLogTxq(v uint32) { *r = *r&^0xf00 | Cap0Reg(v)&0xf<<8 }

// LogKeys returns bits 15:12: log2 of the memory keys.
func (r Cap0Reg) LogKeys() uint32 { return uint32(r >> 12 & 0xf) }

// SetLogKeys sets log_keys to the low 4 bits of v.
func (r *Cap0Reg) SetLogKeys(v uint32) { *r = *r&^0xf000 | Cap0Reg(v)&0xf<<12 }

// Rules returns bits 31:16: steering rules.
func (r Cap0Reg) Rules() uint32 { return uint32(r >> 16 & 0xffff) }

// SetRules sets rules to the low 16 bits of v.
func (r *Cap0Reg) SetRules(v uint32) { *r = *r&^0xffff0000 | Cap0Reg(v)&0xffff<<16 }

// Cap1Reg is the value of register CAP1: optional parts of this build; a bit is set if the part is built.
type Cap1Reg uint32

// Cap1RegMask has a one for every bit of CAP1 that belongs to a field.
const Cap1RegMask Cap1Reg = 0x00003fff

// Copy returns bit 0: copy engine.
func (r Cap1Reg) Copy() bool { return r&1 != 0 }

// SetCopy sets copy.
func (r *Cap1Reg) SetCopy(v bool) {
	*r &^= 1 << 0
	if v {
		*r |= 1 << 0
	}
}

// Push returns bit 1: work entries by register write.
func (r Cap1Reg) Push() bool { return r>>1&1 != 0 }

// SetPush sets push.
func (r *Cap1Reg) SetPush(v bool) {
	*r &^= 1 << 1
	if v {
		*r |= 1 << 1
	}
}

// Rss returns bit 2: RSS.
func (r Cap1Reg) Rss() bool { return r>>2&1 != 0 }

// SetRss sets rss.
func (r *Cap1Reg) SetRss(v bool) {
	*r &^= 1 << 2
	if v {
		*r |= 1 << 2
	}
}

// Accounts returns bit 3: credit accounts and slow-path rings.
func (r Cap1Reg) Accounts() bool { return r>>3&1 != 0 }

// SetAccounts sets accounts.
func (r *Cap1Reg) SetAccounts(v bool) {
	*r &^= 1 << 3
	if v {
		*r |= 1 << 3
	}
}

// Crc32c returns bit 4: payload CRC-32C.
func (r Cap1Reg) Crc32c() bool { return r>>4&1 != 0 }

// SetCrc32c sets crc32c.
func (r *Cap1Reg) SetCrc32c(v bool) {
	*r &^= 1 << 4
	if v {
		*r |= 1 << 4
	}
}

// Pause returns bit 5: pause frames.
func (r Cap1Reg) Pause() bool { return r>>5&1 != 0 }

// SetPause sets pause.
func (r *Cap1Reg) SetPause(v bool) {
	*r &^= 1 << 5
	if v {
		*r |= 1 << 5
	}
}

// Msix returns bit 6: MSI-X.
func (r Cap1Reg) Msix() bool { return r>>6&1 != 0 }

// SetMsix sets msix.
func (r *Cap1Reg) SetMsix(v bool) {
	*r &^= 1 << 6
	if v {
		*r |= 1 << 6
	}
}

// Flr returns bit 7: function-level reset.
func (r Cap1Reg) Flr() bool { return r>>7&1 != 0 }

// SetFlr sets flr.
func (r *Cap1Reg) SetFlr(v bool) {
	*r &^= 1 << 7
	if v {
		*r |= 1 << 7
	}
}

// Ecn returns bit 8: ECN modes of queues.
func (r Cap1Reg) Ecn() bool { return r>>8&1 != 0 }

// SetEcn sets ecn.
func (r *Cap1Reg) SetEcn(v bool) {
	*r &^= 1 << 8
	if v {
		*r |= 1 << 8
	}
}

// Attr returns bit 9: relaxed-ordering and no-snoop attributes.
func (r Cap1Reg) Attr() bool { return r>>9&1 != 0 }

// SetAttr sets attr.
func (r *Cap1Reg) SetAttr(v bool) {
	*r &^= 1 << 9
	if v {
		*r |= 1 << 9
	}
}

// Fence returns bit 10: fences: copies that write after all earlier entries of their queue.
func (r Cap1Reg) Fence() bool { return r>>10&1 != 0 }

// SetFence sets fence.
func (r *Cap1Reg) SetFence(v bool) {
	*r &^= 1 << 10
	if v {
		*r |= 1 << 10
	}
}

// Append returns bit 11: pad bytes and ICRC appended by the device.
func (r Cap1Reg) Append() bool { return r>>11&1 != 0 }

// SetAppend sets append.
func (r *Cap1Reg) SetAppend(v bool) {
	*r &^= 1 << 11
	if v {
		*r |= 1 << 11
	}
}

// Long returns bit 12: work entries of more than one block.
func (r Cap1Reg) Long() bool { return r>>12&1 != 0 }

// SetLong sets long.
func (r *Cap1Reg) SetLong(v bool) {
	*r &^= 1 << 12
	if v {
		*r |= 1 << 12
	}
}

// Trim returns bit 13: receive queues that do not write pad and ICRC to memory.
func (r Cap1Reg) Trim() bool { return r>>13&1 != 0 }

// SetTrim sets trim.
func (r *Cap1Reg) SetTrim(v bool) {
	*r &^= 1 << 13
	if v {
		*r |= 1 << 13
	}
}

// CtrlReg is the value of register CTRL: switches of the whole device.
type CtrlReg uint32

// CtrlRegMask has a one for every bit of CTRL that belongs to a field.
const CtrlRegMask CtrlReg = 0x80000003

// RxEnable returns bit 0: receive; while 0 every frame is dropped and counted in RX_DROP_DISABLED.
func (r CtrlReg) RxEnable() bool { return r&1 != 0 }

// SetRxEnable sets rx_enable.
func (r *CtrlReg) SetRxEnable(v bool) {
	*r &^= 1 << 0
	if v {
		*r |= 1 << 0
	}
}

// TxEnable returns bit 1: transmit; while 0 no work entry is started.
func (r CtrlReg) TxEnable() bool { return r>>1&1 != 0 }

// SetTxEnable sets tx_enable.
func (r *CtrlReg) SetTxEnable(v bool) {
	*r &^= 1 << 1
	if v {
		*r |= 1 << 1
	}
}

// Flr returns bit 31: function-level reset; writing 1 starts it, reads 1 until done (part flr).
func (r CtrlReg) Flr() bool { return r>>31&1 != 0 }

// SetFlr sets flr.
func (r *CtrlReg) SetFlr(v bool) {
	*r &^= 1 << 31
	if v {
		*r |= 1 << 31
	}
}

// StatusReg is the value of register STATUS: activity.
type StatusReg uint32

// StatusRegMask has a one for every bit of STATUS that belongs to a field.
const StatusRegMask StatusReg = 0x00000007

// RxBusy returns bit 0: a frame is in the receive path.
func (r StatusReg) RxBusy() bool { return r&1 != 0 }

// SetRxBusy sets rx_busy.
func (r *StatusReg) SetRxBusy(v bool) {
	*r &^= 1 << 0
	if v {
		*r |= 1 << 0
	}
}

// TxBusy returns bit 1: a work entry is in the transmit path.
func (r StatusReg) TxBusy() bool { return r>>1&1 != 0 }

// SetTxBusy sets tx_busy.
func (r *StatusReg) SetTxBusy(v bool) {
	*r &^= 1 << 1
	if v {
		*r |= 1 << 1
	}
}

// ReadsOutstanding returns bit 2: a read request waits for completions.
func (r StatusReg) ReadsOutstanding() bool { return r>>2&1 != 0 }

// SetReadsOutstanding sets reads_outstanding.
func (r *StatusReg) SetReadsOutstanding(v bool) {
	*r &^= 1 << 2
	if v {
		*r |= 1 << 2
	}
}

// DevctlReg is the value of register DEVCTL: PCIe limits and attributes; may be changed at any time.
type DevctlReg uint32

// DevctlRegMask has a one for every bit of DEVCTL that belongs to a field.
const DevctlRegMask DevctlReg = 0x00000777

// Mps returns bits 2:0: largest write payload: 128 << mps bytes, 0..2; other values count as 0.
func (r DevctlReg) Mps() uint32 { return uint32(r & 0x7) }

// SetMps sets mps to the low 3 bits of v.
func (r *DevctlReg) SetMps(v uint32) { *r = *r&^0x7 | DevctlReg(v)&0x7 }

// Mrrs returns bits 6:4: largest read request: 128 << mrrs bytes, 0..5; other values count as 0.
func (r DevctlReg) Mrrs() uint32 { return uint32(r >> 4 & 0x7) }

// SetMrrs sets mrrs to the low 3 bits of v.
func (r *DevctlReg) SetMrrs(v uint32) { *r = *r&^0x70 | DevctlReg(v)&0x7<<4 }

// Rcb returns bit 8: read completion boundary: 0 = 64 B, 1 = 128 B.
func (r DevctlReg) Rcb() bool { return r>>8&1 != 0 }

// SetRcb sets rcb.
func (r *DevctlReg) SetRcb(v bool) {
	*r &^= 1 << 8
	if v {
		*r |= 1 << 8
	}
}

// RelaxedOrdering returns bit 9: set RO on payload writes and reads (part attr).
func (r DevctlReg) RelaxedOrdering() bool { return r>>9&1 != 0 }

// SetRelaxedOrdering sets relaxed_ordering.
func (r *DevctlReg) SetRelaxedOrdering(v bool) {
	*r &^= 1 << 9
	if v {
		*r |= 1 << 9
	}
}

// NoSnoop returns bit 10: set NS on payload writes and reads (part attr).
func (r DevctlReg) NoSnoop() bool { return r>>10&1 != 0 }

// SetNoSnoop sets no_snoop.
func (r *DevctlReg) SetNoSnoop(v bool) {
	*r &^= 1 << 10
	if v {
		*r |= 1 << 10
	}
}

// RxCtrlReg is the value of register RX_CTRL: frames to drop instead of delivering them.
type RxCtrlReg uint32

// RxCtrlRegMask has a one for every bit of RX_CTRL that belongs to a field.
const RxCtrlRegMask RxCtrlReg = 0x0000000f

// DropBadIpCsum returns bit 0: drop frames whose IPv4 header checksum is bad.
func (r RxCtrlReg) DropBadIpCsum() bool { return r&1 != 0 }

// SetDropBadIpCsum sets drop_bad_ip_csum.
func (r *RxCtrlReg) SetDropBadIpCsum(v bool) {
	*r &^= 1 << 0
	if v {
		*r |= 1 << 0
	}
}

// DropBadL4Csum returns bit 1: drop frames whose UDP checksum is bad.
func (r RxCtrlReg) DropBadL4Csum() bool { return r>>1&1 != 0 }

// SetDropBadL4Csum sets drop_bad_l4_csum.
func (r *RxCtrlReg) SetDropBadL4Csum(v bool) {
	*r &^= 1 << 1
	if v {
		*r |= 1 << 1
	}
}

// DropBadIcrc returns bit 2: drop frames whose ICRC is bad.
func (r RxCtrlReg) DropBadIcrc() bool { return r>>2&1 != 0 }

// SetDropBadIcrc sets drop_bad_icrc.
func (r *RxCtrlReg) SetDropBadIcrc(v bool) {
	*r &^= 1 << 2
	if v {
		*r |= 1 << 2
	}
}

// DropBadCrc32c returns bit 3: drop frames whose payload CRC-32C is bad (part crc32c).
func (r RxCtrlReg) DropBadCrc32c() bool { return r>>3&1 != 0 }

// SetDropBadCrc32c sets drop_bad_crc32c.
func (r *RxCtrlReg) SetDropBadCrc32c(v bool) {
	*r &^= 1 << 3
	if v {
		*r |= 1 << 3
	}
}

// RxDefaultReg is the value of register RX_DEFAULT: treatment of frames that no rule matches.
type RxDefaultReg uint32

// RxDefaultRegMask has a one for every bit of RX_DEFAULT that belongs to a field.
const RxDefaultRegMask RxDefaultReg = 0x0fffffff

// Queue returns bits 15:0: receive queue.
func (r RxDefaultReg) Queue() uint32 { return uint32(r & 0xffff) }

// SetQueue sets queue to the low 16 bits of v.
func (r *RxDefaultReg) SetQueue(v uint32) { *r = *r&^0xffff | RxDefaultReg(v)&0xffff }

// Action returns bits 23:16: enum Action; other values count as Drop, and so does Rss without the part.
func (r RxDefaultReg) Action() uint32 { return uint32(r >> 16 & 0xff) }

// SetAction sets action to the low 8 bits of v.
func (r *RxDefaultReg) SetAction(v uint32) { *r = *r&^0xff0000 | RxDefaultReg(v)&0xff<<16 }

// RssLog returns bits 27:24: action Rss: log2 of the entries of the group (part rss).
func (r RxDefaultReg) RssLog() uint32 { return uint32(r >> 24 & 0xf) }

// SetRssLog sets rss_log to the low 4 bits of v.
func (r *RxDefaultReg) SetRssLog(v uint32) { *r = *r&^0xf000000 | RxDefaultReg(v)&0xf<<24 }

// TblCmdReg is the value of register TBL_CMD: table command; a write starts it, a read returns its status.
type TblCmdReg uint32

// TblCmdRegMask has a one for every bit of TBL_CMD that belongs to a field.
const TblCmdRegMask TblCmdReg = 0x9fffffff

// Index returns bits 15:0: index of the entry.
func (r TblCmdReg) Index() uint32 { return uint32(r & 0xffff) }

// SetIndex sets index to the low 16 bits of v.
func (r *TblCmdReg) SetIndex(v uint32) { *r = *r&^0xffff | TblCmdReg(v)&0xffff }

// Table returns bits 23:16: enum Table.
func (r TblCmdReg) Table() uint32 { return uint32(r >> 16 & 0xff) }

// SetTable sets table to the low 8 bits of v.
func (r *TblCmdReg) SetTable(v uint32) { *r = *r&^0xff0000 | TblCmdReg(v)&0xff<<16 }

// Op returns bits 25:24: enum TableOp.
func (r TblCmdReg) Op() uint32 { return uint32(r >> 24 & 0x3) }

// SetOp sets op to the low 2 bits of v.
func (r *TblCmdReg) SetOp(v uint32) { *r = *r&^0x3000000 | TblCmdReg(v)&0x3<<24 }

// Status returns bits 28:26: enum TableStatus of the last command; ignored on write.
func (r TblCmdReg) Status() uint32 { return uint32(r >> 26 & 0x7) }

// SetStatus sets status to the low 3 bits of v.
func (r *TblCmdReg) SetStatus(v uint32) { *r = *r&^0x1c000000 | TblCmdReg(v)&0x7<<26 }

// Busy returns bit 31: 1 until the command has taken effect; ignored on write; a command written while busy is ignored and counted in REG_BAD.
func (r TblCmdReg) Busy() bool { return r>>31&1 != 0 }

// SetBusy sets busy.
func (r *TblCmdReg) SetBusy(v bool) {
	*r &^= 1 << 31
	if v {
		*r |= 1 << 31
	}
}

// The optional parts of a build, as bits of CAP1.
const (
	PartCopy     Cap1Reg = 1 << 0  // copy engine
	PartPush     Cap1Reg = 1 << 1  // work entries by register write
	PartRss      Cap1Reg = 1 << 2  // RSS
	PartAccounts Cap1Reg = 1 << 3  // credit accounts and slow-path rings
	PartCrc32c   Cap1Reg = 1 << 4  // payload CRC-32C
	PartPause    Cap1Reg = 1 << 5  // pause frames
	PartMsix     Cap1Reg = 1 << 6  // MSI-X
	PartFlr      Cap1Reg = 1 << 7  // function-level reset
	PartEcn      Cap1Reg = 1 << 8  // ECN modes of queues
	PartAttr     Cap1Reg = 1 << 9  // relaxed-ordering and no-snoop attributes
	PartFence    Cap1Reg = 1 << 10 // fences: copies that write after all earlier entries of their queue
	PartAppend   Cap1Reg = 1 << 11 // pad bytes and ICRC appended by the device
	PartLong     Cap1Reg = 1 << 12 // work entries of more than one block
	PartTrim     Cap1Reg = 1 << 13 // receive queues that do not write pad and ICRC to memory
)

// Registers lists every register, in ascending order of offset.
var Registers = [...]RegInfo{
	{Name: "ID", Offset: 0x000, Width: 32, Access: ReadOnly, Reset: 0x5443494e, Doc: "device magic"},
	{Name: "VERSION", Offset: 0x004, Width: 32, Access: ReadOnly, Reset: 0x20000, Doc: "contract version"},
	{Name: "CAP0", Offset: 0x008, Width: 32, Access: ReadOnly, Doc: "sizes of this build", Fields: []RegFieldInfo{
		{Name: "ports", Bit: 0, Width: 4, Doc: "Ethernet ports"},
		{Name: "log_rxq", Bit: 4, Width: 4, Doc: "log2 of the receive queues"},
		{Name: "log_txq", Bit: 8, Width: 4, Doc: "log2 of the transmit queues"},
		{Name: "log_keys", Bit: 12, Width: 4, Doc: "log2 of the memory keys"},
		{Name: "rules", Bit: 16, Width: 16, Doc: "steering rules"},
	}},
	{Name: "CAP1", Offset: 0x00c, Width: 32, Access: ReadOnly, Doc: "optional parts of this build; a bit is set if the part is built", Fields: []RegFieldInfo{
		{Name: "copy", Bit: 0, Width: 1, Doc: "copy engine"},
		{Name: "push", Bit: 1, Width: 1, Doc: "work entries by register write"},
		{Name: "rss", Bit: 2, Width: 1, Doc: "RSS"},
		{Name: "accounts", Bit: 3, Width: 1, Doc: "credit accounts and slow-path rings"},
		{Name: "crc32c", Bit: 4, Width: 1, Doc: "payload CRC-32C"},
		{Name: "pause", Bit: 5, Width: 1, Doc: "pause frames"},
		{Name: "msix", Bit: 6, Width: 1, Doc: "MSI-X"},
		{Name: "flr", Bit: 7, Width: 1, Doc: "function-level reset"},
		{Name: "ecn", Bit: 8, Width: 1, Doc: "ECN modes of queues"},
		{Name: "attr", Bit: 9, Width: 1, Doc: "relaxed-ordering and no-snoop attributes"},
		{Name: "fence", Bit: 10, Width: 1, Doc: "fences: copies that write after all earlier entries of their queue"},
		{Name: "append", Bit: 11, Width: 1, Doc: "pad bytes and ICRC appended by the device"},
		{Name: "long", Bit: 12, Width: 1, Doc: "work entries of more than one block"},
		{Name: "trim", Bit: 13, Width: 1, Doc: "receive queues that do not write pad and ICRC to memory"},
	}},
	{Name: "CTRL", Offset: 0x010, Width: 32, Access: ReadWrite, Doc: "switches of the whole device", Fields: []RegFieldInfo{
		{Name: "rx_enable", Bit: 0, Width: 1, Doc: "receive; while 0 every frame is dropped and counted in RX_DROP_DISABLED"},
		{Name: "tx_enable", Bit: 1, Width: 1, Doc: "transmit; while 0 no work entry is started"},
		{Name: "flr", Bit: 31, Width: 1, Part: PartFlr, Doc: "function-level reset; writing 1 starts it, reads 1 until done"},
	}},
	{Name: "STATUS", Offset: 0x014, Width: 32, Access: ReadOnly, Doc: "activity", Fields: []RegFieldInfo{
		{Name: "rx_busy", Bit: 0, Width: 1, Doc: "a frame is in the receive path"},
		{Name: "tx_busy", Bit: 1, Width: 1, Doc: "a work entry is in the transmit path"},
		{Name: "reads_outstanding", Bit: 2, Width: 1, Doc: "a read request waits for completions"},
	}},
	{Name: "DEVCTL", Offset: 0x018, Width: 32, Access: ReadWrite, Reset: 0x21, Doc: "PCIe limits and attributes; may be changed at any time", Fields: []RegFieldInfo{
		{Name: "mps", Bit: 0, Width: 3, Doc: "largest write payload: 128 << mps bytes, 0..2; other values count as 0"},
		{Name: "mrrs", Bit: 4, Width: 3, Doc: "largest read request: 128 << mrrs bytes, 0..5; other values count as 0"},
		{Name: "rcb", Bit: 8, Width: 1, Doc: "read completion boundary: 0 = 64 B, 1 = 128 B"},
		{Name: "relaxed_ordering", Bit: 9, Width: 1, Part: PartAttr, Doc: "set RO on payload writes and reads"},
		{Name: "no_snoop", Bit: 10, Width: 1, Part: PartAttr, Doc: "set NS on payload writes and reads"},
	}},
	{Name: "CPL_TIMEOUT", Offset: 0x01c, Width: 32, Access: ReadWrite, Reset: 0x10000, Doc: "completion timeout in cycles, 1,024 at least (smaller values count as 1,024)"},
	{Name: "RX_CTRL", Offset: 0x020, Width: 32, Access: ReadWrite, Doc: "frames to drop instead of delivering them", Fields: []RegFieldInfo{
		{Name: "drop_bad_ip_csum", Bit: 0, Width: 1, Doc: "drop frames whose IPv4 header checksum is bad"},
		{Name: "drop_bad_l4_csum", Bit: 1, Width: 1, Doc: "drop frames whose UDP checksum is bad"},
		{Name: "drop_bad_icrc", Bit: 2, Width: 1, Doc: "drop frames whose ICRC is bad"},
		{Name: "drop_bad_crc32c", Bit: 3, Width: 1, Part: PartCrc32c, Doc: "drop frames whose payload CRC-32C is bad"},
	}},
	{Name: "RX_DEFAULT", Offset: 0x024, Width: 32, Access: ReadWrite, Doc: "treatment of frames that no rule matches", Fields: []RegFieldInfo{
		{Name: "queue", Bit: 0, Width: 16, Doc: "receive queue"},
		{Name: "action", Bit: 16, Width: 8, Doc: "enum Action; other values count as Drop, and so does Rss without the part"},
		{Name: "rss_log", Bit: 24, Width: 4, Part: PartRss, Doc: "action Rss: log2 of the entries of the group"},
	}},
	{Name: "ROCE_PORT", Offset: 0x028, Width: 32, Access: ReadWrite, Reset: 0x12b7, Doc: "UDP destination port of RoCEv2, bits 15:0"},
	{Name: "SCRATCH", Offset: 0x02c, Width: 32, Access: ReadWrite, Doc: "for the driver; no effect"},
	{Name: "TBL_CMD", Offset: 0x040, Width: 32, Access: ReadWrite, Doc: "table command; a write starts it, a read returns its status", Fields: []RegFieldInfo{
		{Name: "index", Bit: 0, Width: 16, Doc: "index of the entry"},
		{Name: "table", Bit: 16, Width: 8, Doc: "enum Table"},
		{Name: "op", Bit: 24, Width: 2, Doc: "enum TableOp"},
		{Name: "status", Bit: 26, Width: 3, Doc: "enum TableStatus of the last command; ignored on write"},
		{Name: "busy", Bit: 31, Width: 1, Doc: "1 until the command has taken effect; ignored on write; a command written while busy is ignored and counted in REG_BAD"},
	}},
	{Name: "TBL_DATA", Offset: 0x080, Width: 32, Count: 32, Stride: 4, Access: ReadWrite, Doc: "staging window of table commands, word i"},
	{Name: "RSS_KEY", Offset: 0x100, Width: 32, Count: 10, Stride: 4, Access: ReadWrite, Part: PartRss, Doc: "Toeplitz key, first byte first"},
	{Name: "PORT_MAC", Offset: 0x200, Width: 32, Count: 4, Stride: 4, Access: ReadWrite, Part: PartPause, Doc: "source address of pause frames: two words per port"},
	{Name: "COUNTER", Offset: 0x1000, Width: 64, Count: 256, Stride: 8, Access: ReadOnly, Doc: "64-bit counters, by counter index; both DWs of one read are of the same cycle"},
	{Name: "RULE_HITS", Offset: 0x2000, Width: 64, Count: 256, Stride: 8, Access: ReadOnly, Doc: "frames that rule i matched; frames dropped by earlier checks do not count"},
	{Name: "ACCOUNT_CREDIT", Offset: 0x4000, Width: 32, Count: 64, Stride: 4, Access: ReadWrite, Part: PartAccounts, Doc: "write: bits 23:0 credits to add, or with bit 30 (take) to subtract, bit 31 resume; read: bits 23:0 balance, bit 31 slow"},
	{Name: "RX_DOORBELL", Offset: 0x8000, Width: 32, Count: 256, Stride: 4, Access: WriteOnly, Doc: "bits 15:0: producer index of receive queue i"},
	{Name: "TX_DOORBELL", Offset: 0x9000, Width: 32, Count: 256, Stride: 4, Access: WriteOnly, Doc: "bits 15:0: producer index of transmit queue i"},
	{Name: "TX_PUSH", Offset: 0x10000, Width: 512, Count: 256, Stride: 64, Access: WriteOnly, Part: PartPush, Doc: "64 B block of a work entry of transmit queue i, pushed whole"},
}
