package protocol

// Encoding of the frames that a client sends. Encoders append to a buffer and never change their input.

func AppendOpen(b []byte, token *[32]byte) []byte {
	b = append(b, make([]byte, HeadBytes)...)
	at := len(b) - HeadBytes
	b = Le.AppendUint64(b, Magic)
	b = Le.AppendUint16(b, Version)
	b = Le.AppendUint16(b, Version)
	b = Le.AppendUint32(b, 0)
	b = append(b, token[:]...)
	PutHead(b[at:], FrameOpen, OpenBytes)
	return b
}

// Record types of RUN and INPUT frames.
const (
	recordTransaction = 1
	recordCredit      = 2
	recordReset       = 3
)

func appendRecordHead(b []byte, typ, stream uint8, side int, n uint32, cycle uint64) []byte {
	b = append(b, typ, stream, byte(side), byte(side>>8))
	b = Le.AppendUint32(b, n)
	return Le.AppendUint64(b, cycle)
}

var zeros [8]byte

func AppendPadded(b, p []byte) []byte {
	b = append(b, p...)
	return append(b, zeros[:pad8(len(p))-len(p)]...)
}

// AppendCredit gives an output stream n more transactions from a cycle on.
func AppendCredit(b []byte, stream uint8, cycle uint64, n int) []byte {
	return appendRecordHead(b, recordCredit, stream, 0, uint32(n), cycle)
}

// AppendReset puts the device into reset in a cycle.
func AppendReset(b []byte, cycle uint64) []byte {
	return appendRecordHead(b, recordReset, 0, 0, 0, cycle)
}

func AppendTransaction(b []byte, stream uint8, cycle uint64, side, data []byte) []byte {
	b = appendRecordHead(b, recordTransaction, stream, len(side), uint32(len(data)), cycle)
	b = AppendPadded(b, side)
	return AppendPadded(b, data)
}

// PutRun writes the head of a RUN's payload; records follow it.
func PutRun(b []byte, index, start uint64, cycles, records uint32) {
	Le.PutUint64(b, index)
	Le.PutUint64(b[8:], start)
	Le.PutUint32(b[16:], cycles)
	Le.PutUint32(b[20:], records)
}

// PutInput writes the head of an INPUT's payload; records follow it.
func PutInput(b []byte, records uint32) {
	Le.PutUint32(b, records)
	Le.PutUint32(b[4:], 0)
}
