package protocol

import (
	"fmt"
	"strings"
)

// StreamStart configures one stream for a run.
type StreamStart struct {
	StallPercent int // input: gaps before beats; output: back-pressure; percent of cycles, 0 to 100
	BurstLog2    int // one random draw applies to 2^BurstLog2 cycles; 0 to 16
	// Credits is the number of transactions an output may give before credits are returned; negative: unlimited.
	Credits  int
	MaxBytes int // bytes of one transaction, at most; 0 means DefaultMaxBytes
}

// DefaultMaxBytes is the longest transaction unless a run says otherwise.
const DefaultMaxBytes = 16 << 10

// Start opens a run.
type Start struct {
	Seed     uint64
	Watchdog uint64       // cycles after which a stuck stream is a violation; 0: never
	PeriodPs int64        // period of the first clock
	Clocks   []ClockStart // the other clocks
	Poison   bool         // drive noise on idle input pins
	Idle     IdleMode
	Streams  []StreamStart
	Ties     []TieValue
}

// ClockStart defines the edges of a clock other than the first: at PhasePs, PhasePs + PeriodPs and so on.
type ClockStart struct {
	PeriodPs, PhasePs int64
}

// IdleMode selects how cycles in which the device does not change are handled. Results are the same in all
// modes.
type IdleMode uint8

// Idle modes.
const (
	IdleSkip     IdleMode = iota // skip idle cycles if the device permits it (skip_idle)
	IdleEvaluate                 // evaluate all idle cycles
	// Evaluate all idle cycles, and fail if a device that permits skipping changes in an idle cycle.
	IdleCheck
)

var idleNames = [...]string{"skip", "evaluate", "check"}

func (m IdleMode) String() string {
	if int(m) < len(idleNames) {
		return idleNames[m]
	}
	return fmt.Sprintf("idle mode %d", uint8(m))
}

// IdleModes returns the names of the modes, for messages.
func IdleModes() string { return strings.Join(idleNames[:], ", ") }

// ParseIdleMode parses a mode's name.
func ParseIdleMode(s string) (IdleMode, error) {
	for i, n := range idleNames {
		if s == n {
			return IdleMode(i), nil
		}
	}
	return 0, fmt.Errorf("%q: want %s", s, IdleModes())
}

// TieValue overrides a tie-off of at most 64 bits for a run.
type TieValue struct {
	Index int // index into Hello.Ties
	Value uint64
}

// Flags of START.
const (
	startPoison    = 1
	startSkipIdle  = 2
	startCheckIdle = 4
)

// AppendStart appends a START frame; skipIdle: the device declares that idle cycles may be skipped.
func AppendStart(b []byte, s *Start, skipIdle bool) []byte {
	at := len(b)
	b = append(b, make([]byte, HeadBytes)...)
	b = Le.AppendUint64(b, s.Seed)
	b = Le.AppendUint64(b, s.Watchdog)
	b = Le.AppendUint64(b, uint64(s.PeriodPs))
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
	b = Le.AppendUint32(b, flags)
	b = Le.AppendUint16(b, uint16(len(s.Streams)))
	b = Le.AppendUint16(b, uint16(len(s.Ties)))
	for _, x := range s.Streams {
		b = append(b, byte(x.StallPercent), byte(x.BurstLog2), 0, 0)
		credits, limit := uint32(unlimited), uint32(x.MaxBytes)
		if x.Credits >= 0 {
			credits = uint32(x.Credits)
		}
		if limit == 0 {
			limit = DefaultMaxBytes
		}
		b = Le.AppendUint32(b, credits)
		b = Le.AppendUint32(b, limit)
		b = Le.AppendUint32(b, 0)
	}
	for _, c := range s.Clocks {
		b = Le.AppendUint64(b, uint64(c.PeriodPs))
		b = Le.AppendUint64(b, uint64(c.PhasePs))
	}
	for _, t := range s.Ties {
		b = Le.AppendUint16(b, uint16(t.Index))
		b = append(b, 0, 0, 0, 0, 0, 0)
		b = Le.AppendUint64(b, t.Value)
	}
	PutHead(b[at:], FrameStart, len(b)-at-HeadBytes)
	return b
}
