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

// Flags of START.
const (
	startPoison    = 1
	startSkipIdle  = 2
	startCheckIdle = 4
)

// appendStart appends a START frame; skipIdle: the device declares that idle cycles can be skipped.
func appendStart(b []byte, s *Start, skipIdle bool) []byte {
	at := len(b)
	b = append(b, make([]byte, headBytes)...)
	b = le.AppendUint64(b, s.Seed)
	b = le.AppendUint64(b, s.Watchdog)
	b = le.AppendUint64(b, uint64(s.PeriodPs))
	var flags uint32
	if s.Poison {
		flags = startPoison
	}
	switch {
	case !skipIdle:
	case s.Idle == IdleSkip:
		flags |= startSkipIdle
	case s.Idle == IdleCheck:
		flags |= startCheckIdle
	}
	b = le.AppendUint32(b, flags)
	b = le.AppendUint16(b, uint16(len(s.Streams)))
	b = le.AppendUint16(b, uint16(len(s.Ties)))
	for _, x := range s.Streams {
		b = append(b, byte(x.StallPercent), byte(x.BurstLog2), 0, 0)
		credits, limit := uint32(unlimited), uint32(x.MaxBytes)
		if x.Credits >= 0 {
			credits = uint32(x.Credits)
		}
		if limit == 0 {
			limit = DefaultMaxBytes
		}
		b = le.AppendUint32(b, credits)
		b = le.AppendUint32(b, limit)
		b = le.AppendUint32(b, 0)
	}
	for _, c := range s.Clocks {
		b = le.AppendUint64(b, uint64(c.PeriodPs))
		b = le.AppendUint64(b, uint64(c.PhasePs))
	}
	for _, t := range s.Ties {
		b = le.AppendUint16(b, uint16(t.Index))
		b = append(b, 0, 0, 0, 0, 0, 0)
		b = le.AppendUint64(b, t.Value)
	}
	putHead(b[at:], FrameStart, len(b)-at-headBytes)
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

func appendTransaction(b []byte, stream uint8, cycle uint64, side, data []byte) []byte {
	b = appendRecordHead(b, recordTransaction, stream, len(side), uint32(len(data)), cycle)
	b = appendPadded(b, side)
	return appendPadded(b, data)
}

func putRun(b []byte, index, start uint64, cycles, records uint32) {
	le.PutUint64(b, index)
	le.PutUint64(b[8:], start)
	le.PutUint32(b[16:], cycles)
	le.PutUint32(b[20:], records)
}
