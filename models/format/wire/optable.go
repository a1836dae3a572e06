package wire

// Header identifies one of the headers that can follow a BTH.
type Header uint8

// The extension headers, and the body of a CNP.
const (
	HeaderNone Header = iota
	HeaderRETH
	HeaderAETH
	HeaderDETH
	HeaderImmDt
	HeaderIETH
	HeaderAtomicETH
	HeaderAtomicAckETH
	HeaderCNP
	numHeaders
)

var headerNames = [numHeaders]string{"none", "RETH", "AETH", "DETH", "ImmDt", "IETH", "AtomicETH", "AtomicAckETH",
	"CNP"}

var headerSizes = [numHeaders]uint8{0, RETHSize, AETHSize, DETHSize, ImmDtSize, IETHSize,
	AtomicETHSize, AtomicAckETHSize, CNPSize}

// Size returns the header's length in bytes.
func (h Header) Size() int {
	if h >= numHeaders {
		return 0
	}
	return int(headerSizes[h])
}

func (h Header) String() string {
	if h >= numHeaders {
		return "reserved header"
	}
	return headerNames[h]
}

// MaxExt is the largest number of extension headers after one BTH.
const MaxExt = 2

// OpInfo is one row of the opcode table.
type OpInfo struct {
	Known      bool
	Name       string // as in "RC_WRITE_ONLY_IMM"
	Transport  Transport
	Operation  Operation
	Position   Position
	Ext        [MaxExt]Header // extension headers in wire order, then HeaderNone
	ExtLen     uint8          // total length of Ext in bytes
	HasPayload bool           // a payload may follow, of 0 bytes or more
}

// Has reports whether header h follows the BTH.
func (i OpInfo) Has(h Header) bool { return i.Offset(h) >= 0 }

// Offset returns the offset of header h in bytes from the start of the BTH, or -1 if packets with
// this opcode do not have it.
func (i OpInfo) Offset(h Header) int {
	off := BTHSize
	for _, e := range i.Ext {
		switch e {
		case HeaderNone:
			return -1
		case h:
			return off
		}
		off += e.Size()
	}
	return -1
}

// nextAfter returns the header after h, or HeaderNone if that is the payload. For h = HeaderNone it
// returns the header after the BTH.
func (i *OpInfo) nextAfter(h Header) Header {
	if h == HeaderNone {
		return i.Ext[0]
	}
	if i.Ext[0] == h {
		return i.Ext[1]
	}
	return HeaderNone
}

type opRow struct {
	op        Opcode
	operation Operation
	position  Position
	suffix    string
	ext       [MaxExt]Header
}

// opRows holds the opcodes of RC. Its rows of SEND and WRITE without invalidate apply to UC too,
// which has the same low five bits (IBTA 9.2).
var opRows = []opRow{
	{RCSendFirst, OpSend, PosFirst, "", [MaxExt]Header{}},
	{RCSendMiddle, OpSend, PosMiddle, "", [MaxExt]Header{}},
	{RCSendLast, OpSend, PosLast, "", [MaxExt]Header{}},
	{RCSendLastImm, OpSend, PosLast, "_IMM", [MaxExt]Header{HeaderImmDt}},
	{RCSendOnly, OpSend, PosOnly, "", [MaxExt]Header{}},
	{RCSendOnlyImm, OpSend, PosOnly, "_IMM", [MaxExt]Header{HeaderImmDt}},
	{RCWriteFirst, OpWrite, PosFirst, "", [MaxExt]Header{HeaderRETH}},
	{RCWriteMiddle, OpWrite, PosMiddle, "", [MaxExt]Header{}},
	{RCWriteLast, OpWrite, PosLast, "", [MaxExt]Header{}},
	{RCWriteLastImm, OpWrite, PosLast, "_IMM", [MaxExt]Header{HeaderImmDt}},
	{RCWriteOnly, OpWrite, PosOnly, "", [MaxExt]Header{HeaderRETH}},
	{RCWriteOnlyImm, OpWrite, PosOnly, "_IMM", [MaxExt]Header{HeaderRETH, HeaderImmDt}},
	{RCReadRequest, OpReadRequest, PosOnly, "", [MaxExt]Header{HeaderRETH}},
	{RCReadRespFirst, OpReadResponse, PosFirst, "", [MaxExt]Header{HeaderAETH}},
	{RCReadRespMid, OpReadResponse, PosMiddle, "", [MaxExt]Header{}},
	{RCReadRespLast, OpReadResponse, PosLast, "", [MaxExt]Header{HeaderAETH}},
	{RCReadRespOnly, OpReadResponse, PosOnly, "", [MaxExt]Header{HeaderAETH}},
	{RCAck, OpAck, PosOnly, "", [MaxExt]Header{HeaderAETH}},
	{RCAtomicAck, OpAtomicAck, PosOnly, "", [MaxExt]Header{HeaderAETH, HeaderAtomicAckETH}},
	{RCCmpSwap, OpCmpSwap, PosOnly, "", [MaxExt]Header{HeaderAtomicETH}},
	{RCFetchAdd, OpFetchAdd, PosOnly, "", [MaxExt]Header{HeaderAtomicETH}},
	{RCSendLastInv, OpSend, PosLast, "_INV", [MaxExt]Header{HeaderIETH}},
	{RCSendOnlyInv, OpSend, PosOnly, "_INV", [MaxExt]Header{HeaderIETH}},

	{UDSendOnly, OpSend, PosOnly, "", [MaxExt]Header{HeaderDETH}},
	{UDSendOnlyImm, OpSend, PosOnly, "_IMM", [MaxExt]Header{HeaderDETH, HeaderImmDt}},
	{CNPOpcode, OpCNP, PosOnly, "", [MaxExt]Header{HeaderCNP}},
}

var opTable = buildOpTable()

func buildOpTable() (t [256]OpInfo) {
	for i := range t {
		t[i].Transport = Opcode(i).Transport()
	}
	for _, r := range opRows {
		t[r.op] = r.info()
		if r.op <= RCWriteOnlyImm {
			uc := r
			uc.op |= UCSendFirst
			t[uc.op] = uc.info()
		}
	}
	return t
}

func (r opRow) info() OpInfo {
	i := OpInfo{Known: true, Transport: r.op.Transport(), Operation: r.operation, Position: r.position, Ext: r.ext}
	switch r.operation {
	case OpSend, OpWrite, OpReadResponse:
		i.Name = i.Transport.String() + "_" + r.operation.String() + "_" + r.position.String() + r.suffix
		i.HasPayload = true
	case OpCNP:
		i.Name = r.operation.String()
	default:
		i.Name = i.Transport.String() + "_" + r.operation.String()
	}
	for _, e := range r.ext {
		i.ExtLen += headerSizes[e]
	}
	return i
}
