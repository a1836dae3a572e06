package golden

import (
	"fmt"
	"math"
	"slices"

	"nictwin/golden/accounts"
	"nictwin/golden/rings"
	"nictwin/golden/verdict"
	"nictwin/golden/windows"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
)

const wordBytes = tlp.DWBytes

// asked is a read request to which the device owes an answer, with the values that the answer may have.
type asked struct {
	answer core.Answer // answer from the register values at the time of the request
	off    uint32      // offset in BAR0
	inBar  bool
	cycle  int64
	low    [2]uint64 // lowest value of each counter
	class  [2]wordClass
	from   entryRead // source of TBL_DATA, for words whose class is not wordExact
	credit [2]accounts.Range
	reset  bool // accepted during a function-level reset
}

// barSide tracks what core.Regs does not: writes that may not have taken effect, and requests without an answer.
type barSide struct {
	answers fifo.Queue[asked]

	commandAt int64 // cycle of the latest table command
	confirmed bool  // a read has shown that the table command is done

	drainRx bool // direction and number of the queue being disabled
	drainQ  int
	drainAt int64

	limitsAt  int64 // cycle of the latest change of DEVCTL; constant `never` if it has taken effect
	timeoutAt int64 // cycle of the latest change of CPL_TIMEOUT; constant `never` if it has taken effect

	keys *windows.Keys

	words [nicspec.TableWords]wordClass // class of each word of TBL_DATA
	from  entryRead                     // queue or account whose entry was loaded into TBL_DATA last
}

// reset restores the state after reset, but keeps the requests without an answer.
func (s *barSide) reset(regs *core.Regs) {
	*s = barSide{answers: s.answers}
	s.commandAt, s.limitsAt, s.timeoutAt, s.drainAt = never, never, never, never
	s.keys = windows.NewKeys(len(regs.Keys()))
}

// flrSide tracks a function-level reset, from its write to the read that shows its end.
type flrSide struct {
	on     bool
	at     int64             // cycle of the write that starts the reset
	work   int64             // last cycle in which crossings showed work
	writes fifo.Queue[int64] // register writes during the reset that may have come after its end
	fresh  *core.Regs        // register values after the reset
	late   bool              // the reset was reported as too long
	over   int64             // cycle in which the latest reset was seen to be over
}

// wordClass says how a word of TBL_DATA is compared.
type wordClass uint8

const (
	wordExact   wordClass = iota
	wordState             // top byte: the queue's state, which may be Error
	wordError             // byte 2: the status of the queue's failure
	wordIndices           // pi and ci
	wordCqi               // low half: cqi
	wordBalance           // balance of an account
	wordSlow              // byte 1: whether an account is in state Slow
	wordDrawn
	wordSeq
)

// entryRead describes a table command that loaded the entry of a queue or an account. Its indices are the lowest
// that the entry can have had then, given the outputs that had crossed and the doorbells that had taken effect.
type entryRead struct {
	rx          bool
	queue       int // number of the queue or account
	off         bool
	epoch       uint32
	pi, ci, cqi uint16

	account accounts.Range
	cycle   int64
}

// classAt returns the class by which the register at an offset is compared.
func (b *barSide) classAt(off uint32) wordClass {
	if i, ok := int(off)-nicspec.RegTblDataBase, off >= nicspec.RegTblDataBase; ok &&
		i/wordBytes < nicspec.RegTblDataCount {
		return b.words[i/wordBytes]
	}
	return wordExact
}

func (r *Referee) failRegister(rule string, off uint32, want, got string) {
	r.log.Fail(verdict.Registers, rule, registerName(off), want, got)
}

// registerName returns the name of the register at an offset.
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

// tableRead handles a table command that loads TBL_DATA from an entry: it chooses the class by which each word will
// be compared.
func (r *Referee) tableRead(e *core.Effect) {
	w := &r.bar.words
	*w = [nicspec.TableWords]wordClass{}
	if e.Table == nicspec.TableAccount {
		w[0], w[1], w[2], w[3] = wordBalance, wordSlow, wordDrawn, wordSeq
		r.bar.from = entryRead{queue: e.Index, cycle: r.now, account: r.rx.accounts[e.Index].Range(r.now, r.rx.unsure)}
		return
	}
	if e.Table != nicspec.TableRxq && e.Table != nicspec.TableTxq {
		return
	}
	const stateWord, errorWord, indexWord = 0, 2, 12
	w[stateWord], w[errorWord], w[indexWord], w[indexWord+1] = wordState, wordError, wordIndices, wordCqi
	f := entryRead{rx: e.Table == nicspec.TableRxq, queue: e.Index}
	v := r.view(&f)
	f.off, f.epoch = !v.open, v.epoch
	f.pi, f.ci, f.cqi = v.leastPI, v.ctx.CI, v.ctx.CQI
	r.bar.from = f
}

// queueView is the part of a queue's state that its table entry shows, for either direction.
type queueView struct {
	domain  verdict.Domain
	ctx     *core.Queue // CI and CQI count the outputs seen
	epoch   uint32
	open    bool
	leastPI uint16
	mostPI  uint16 // highest possible producer index: that of a doubtful doorbell, if there is one
	bad     rings.Failures
	seen    bool // the queue has sent its Event
}

func (r *Referee) view(f *entryRead) queueView {
	if f.rx {
		q := r.rx.queue(uint16(f.queue))
		v := queueView{q.Domain(), &q.Ctx, q.epoch, q.open, q.postedBefore(r.now - nicspec.VisibleCycles), q.Ctx.PI,
			q.bad, q.eventSeen}
		v.doubt(q.doubtful, q.doubtfulPI)
		return v
	}
	q := r.tx.queue(uint16(f.queue))
	v := queueView{q.Domain(), &q.Ctx, q.Epoch, q.Open, q.leastPI(r.now), q.Ctx.PI, q.bad, q.eventSeen}
	v.doubt(q.doubtful, q.doubtfulPI)
	return v
}

func (v *queueView) doubt(doubtful bool, pi uint16) {
	if doubtful && pi-v.ctx.CI > v.mostPI-v.ctx.CI {
		v.mostPI = pi
	}
}

// queueWord compares a word of a queue's entry that the device maintains.
func (r *Referee) queueWord(f *entryRead, off uint32, class wordClass, want, got uint32) {
	v := r.view(f)
	if v.epoch != f.epoch {
		return // the queue was enabled again after the table command: the state that was loaded is forgotten
	}
	late := rings.Failures(nil)
	if v.open {
		late = r.lateReads(v.domain, 0)
	}
	failing := append(v.bad[:len(v.bad):len(v.bad)], late...)
	switch {
	case class == wordState:
		r.stateWord(off, len(failing) > 0, want, got)
	case class == wordError && f.off:
		r.errorWord(off, nil, want, got)
	case class == wordError:
		r.errorWord(off, failing, want, got)
	default:
		r.indexWord(f, &v, off, class, len(failing) > 0, want, got)
	}
}

// stateWord compares the word with the queue's state: Error may show before the Event if a read may have failed
// [Q4].
func (r *Referee) stateWord(off uint32, failing bool, want, got uint32) {
	const shift = 24
	errorToo := want&(1<<shift-1) | uint32(nicspec.QueueStateError)<<shift
	running := nicspec.QueueState(want>>shift) == nicspec.QueueStateRun
	if got == want || running && failing && got == errorToo {
		return
	}
	text := fmt.Sprintf("%#x", want)
	if running && failing {
		text += fmt.Sprintf(" or %#x", errorToo)
	}
	r.failRegister("Q5", off, text, fmt.Sprintf("%#x", got))
}

// errorWord compares the word with the failure's status: that of any read that failed or may have, or Ok [Q4, Q5].
func (r *Referee) errorWord(off uint32, failing rings.Failures, want, got uint32) {
	const shift, mask = 16, 0xff0000
	with := func(b rings.Failed) uint32 { return want&^mask | uint32(b.Status)<<shift }
	if got == want || slices.ContainsFunc(failing, func(b rings.Failed) bool { return got == with(b) }) {
		return
	}
	text := fmt.Sprintf("%#x", want)
	for _, b := range failing {
		text += fmt.Sprintf(" or %#x", with(b))
	}
	r.failRegister("Q5", off, text, fmt.Sprintf("%#x", got))
}

// indexWord compares indices: each is at least what outputs had shown when the entry was loaded, and at most what
// outputs since then, and work under way, allow.
func (r *Referee) indexWord(f *entryRead, v *queueView, off uint32, class wordClass, failing bool, want, got uint32) {
	ci, cqi := r.mostIndices(f, v, failing)
	low, high := uint16(got), uint16(got>>16)
	text := ""
	switch class {
	case wordIndices:
		from := f.pi
		if failing {
			from = f.ci // doorbells after the failure have no effect [Q2]
		}
		if low-from <= v.mostPI-from && high-f.ci <= ci-f.ci {
			return
		}
		text = fmt.Sprintf("pi %d to %d, ci %d to %d", from, v.mostPI, f.ci, ci)
	default:
		if (got^want)&0xffff0000 == 0 && low-f.cqi <= cqi-f.cqi {
			return
		}
		text = fmt.Sprintf("%#x with cqi %d to %d", want, f.cqi, cqi)
	}
	r.failRegister("Q5", off, text, fmt.Sprintf("%#x", got))
}

// mostIndices returns the highest consumer and completion indices that a queue can have.
func (r *Referee) mostIndices(f *entryRead, v *queueView, failing bool) (ci, cqi uint16) {
	_, ahead := r.usedAhead(&core.Effect{Rx: f.rx, Index: f.queue})
	ci, cqi = v.ctx.CI+ahead, v.ctx.CQI+ahead
	switch {
	case !v.open && !f.rx:
		ci = v.ctx.PI // entries may end without an output
	case v.open && failing && !v.seen:
		cqi++ // for the Event that the queue owes
	}
	return ci, cqi
}

// usedAhead returns a queue's context, nil if it is not open, and how many descriptors or entries the device may
// have used beyond those that outputs show.
func (r *Referee) usedAhead(e *core.Effect) (ctx *core.Queue, ahead uint16) {
	if e.Rx {
		q := r.rx.queue(uint16(e.Index))
		if q == nil || !q.open {
			return nil, 0
		}
		n := uint16(min(q.pending+r.rx.unsure, math.MaxInt16))
		for ahead < n && q.Slot(q.Ctx.CI+ahead).State == rings.Fetched {
			ahead++
		}
		return &q.Ctx, ahead
	}
	q := r.tx.queue(uint16(e.Index))
	if q == nil || !q.Open {
		return nil, 0
	}
	ahead = q.Oldest - q.Ctx.CI // entries that ended without an output
	for i := q.Oldest; i != q.Ctx.PI && (q.Slot(i).State == rings.Fetched || q.Slot(i).State == rings.Pushed &&
		int16(i-q.fetch) < 0); i++ {
		ahead++
	}
	return &q.Ctx, ahead
}
