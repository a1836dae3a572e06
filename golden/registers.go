package golden

import (
	"fmt"

	"nictwin/golden/accounts"
	"nictwin/golden/verdict"
	"nictwin/golden/windows"
	"nictwin/models/fifo"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

const wordBytes = tlp.DWBytes

// asked is a request that the device has to answer.
type asked struct {
	answer core.Answer // as the registers were when it was accepted
	off    uint32      // in BAR0
	inBar  bool
	cycle  int64
	low    [2]uint64 // what counters must show at least
	class  [2]wordClass
	from   entryRead // if a class is not wordExact
	credit [2]accounts.Range
	reset  bool // it was accepted during a function-level reset
}

// barSide is what is known of the registers, beyond core.Regs: what has been
// written and may not have taken effect, and what has been asked and not been
// answered.
type barSide struct {
	answers fifo.Queue[asked]

	commandAt int64 // cycle of the latest table command
	confirmed bool  // a read has shown that it is done

	drainRx bool // the queue that is being disabled
	drainQ  int
	drainAt int64

	limitsAt  int64 // cycle of the latest change of DEVCTL; never once settled
	timeoutAt int64 // likewise CPL_TIMEOUT

	keys *windows.Keys

	words [nicspec.TableWords]wordClass // of TBL_DATA
	from  entryRead                     // what TBL_DATA was loaded from last, if that was a queue
}

// reset is what is known after reset, but for what is to be answered.
func (s *barSide) reset(regs *core.Regs) {
	*s = barSide{answers: s.answers}
	s.commandAt, s.limitsAt, s.timeoutAt, s.drainAt = never, never, never, never
	s.keys = windows.NewKeys(len(regs.Keys()))
}

// flrSide is a function-level reset under way: from its write to the read that
// shows its end.
type flrSide struct {
	on     bool
	at     int64             // cycle of its write
	work   int64             // last cycle in which work was seen
	writes fifo.Queue[int64] // register writes since that may have come after the end
	fresh  *core.Regs        // what registers read after it
	late   bool              // reported
	over   int64             // cycle in which the latest reset was seen to be over
}

// wordClass says how a word of TBL_DATA is compared.
type wordClass uint8

const (
	wordExact   wordClass = iota
	wordState             // its top byte is the queue's state
	wordError             // byte 2 is why
	wordIndices           // pi and ci
	wordCqi               // cqi in the low half
	wordBalance           // of an account
	wordSlow              // its second byte is the account's state
	wordDrawn
	wordSeq
)

// entryRead is a table command that loaded a queue's entry or an account's, and the least that its indices can have been then: outputs
// that have crossed count, and doorbells that have taken effect.
type entryRead struct {
	rx          bool
	queue       int // or account
	off         bool
	epoch       uint32
	pi, ci, cqi uint16

	account accounts.Range
	cycle   int64
}

// classAt is how the register at an offset is compared.
func (b *barSide) classAt(off uint32) wordClass {
	if i, ok := int(off)-nicspec.RegTblDataBase, off >= nicspec.RegTblDataBase; ok && i/wordBytes < nicspec.RegTblDataCount {
		return b.words[i/wordBytes]
	}
	return wordExact
}

func (r *Referee) failRegister(rule string, off uint32, want, got string) {
	r.log.Fail(verdict.Registers, rule, registerName(off), want, got)
}

// registerName names the register at an offset.
func registerName(off uint32) string {
	reg, i, at := nicspec.RegisterAt(off)
	switch {
	case reg == nil:
		return fmt.Sprintf("offset %#x", off)
	case reg.Count > 0:
		return fmt.Sprintf("%s[%d]", reg.Name, i)
	case at > 0:
		return fmt.Sprintf("%s+%d", reg.Name, at)
	}
	return reg.Name
}
