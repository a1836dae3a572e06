package rtlbridge

// What a client sends. Encoders append to a buffer and never change their input.

func appendOpen(b []byte, token *[32]byte) []byte {
	b = append(b, make([]byte, headBytes)...)
	at := len(b) - headBytes
	b = le.AppendUint64(b, magic)
	b = le.AppendUint16(b, Version)
	b = le.AppendUint16(b, Version)
	b = le.AppendUint32(b, 0)
	b = append(b, token[:]...)
	putHead(b[at:], FrameOpen, openBytes)
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
	b = le.AppendUint32(b, n)
	return le.AppendUint64(b, cycle)
}

var zeros [8]byte

func appendPadded(b, p []byte) []byte {
	b = append(b, p...)
	return append(b, zeros[:pad8(len(p))-len(p)]...)
}

// appendCredit gives an output stream n more transactions from a cycle on.
func appendCredit(b []byte, stream uint8, cycle uint64, n int) []byte {
	return appendRecordHead(b, recordCredit, stream, 0, uint32(n), cycle)
}

// appendReset puts the device into reset in a cycle.
func appendReset(b []byte, cycle uint64) []byte {
	return appendRecordHead(b, recordReset, 0, 0, 0, cycle)
}

func appendTransaction(b []byte, stream uint8, cycle uint64, side, data []byte) []byte {
	b = appendRecordHead(b, recordTransaction, stream, len(side), uint32(len(data)), cycle)
	b = appendPadded(b, side)
	return appendPadded(b, data)
}

// putRun writes the head of a RUN's payload, of which records follow.
func putRun(b []byte, index, start uint64, cycles, records uint32) {
	le.PutUint64(b, index)
	le.PutUint64(b[8:], start)
	le.PutUint32(b[16:], cycles)
	le.PutUint32(b[20:], records)
}

// putInput writes the head of an INPUT's payload, of which records follow.
func putInput(b []byte, records uint32) {
	le.PutUint32(b, records)
	le.PutUint32(b[4:], 0)
}
