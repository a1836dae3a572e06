package player

import (
	"encoding/binary"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/fuzz/program"
)

// watcher counts, in bins of coverage, what crossings and completion entries show that the NIC has done.
type watcher struct {
	cov         *coverage.Coverage
	board       *program.Board
	sizes       *nicspec.Build
	stall       string
	devctl      nicspec.DevctlReg
	faultOf     map[uint64]string // queue or memory whose reads a fault affects, by the fault's first address
	ports       pauseWatch
	received    [board.MaxPorts][]arrival // received frames, by port and ordinal
	invalidated []invalidRule             // rules that were invalidated
	now         int64                     // cycle of the current crossing
	failed      [CopyChannels]string      // status of the channel's latest failed copy, until one succeeds
	fillWatch
	situationWatch
}

// mostCounted bounds the entries of a queue that are counted: after those, all are short and alike.
const mostCounted = 4096

func newWatcher(p *program.Program, sizes *nicspec.Build, cov *coverage.Coverage) *watcher {
	w := &watcher{cov: cov, board: &p.Board, sizes: sizes, devctl: nicspec.ResetDevctl, faultOf: map[uint64]string{},
		situationWatch: situationWatch{enabled: never, begins: never}}
	w.stall = coverage.StallClass(p.Board.Stall)
	how := "longest"
	if p.Board.Random {
		how = "random"
	}
	order := "in order"
	if p.Board.Jitter > 0 {
		order = "shuffled"
	}
	cov.Hit("completions", fmt.Sprintf("%d B", p.Board.MPS), fmt.Sprintf("RCB %d", p.Board.RCB), how, order)
	return w
}

func (w *watcher) crossing(c boundary.Crossing) {
	w.now = c.Last
	w.filling(&c)
	switch c.Kind {
	case boundary.FrameIn, boundary.FrameOut:
		w.pauses(&c)
		w.frames(&c)
		if c.Kind == boundary.FrameIn {
			w.rareFrame(c.Frame)
			w.overReset(&c)
		}
	case boundary.TLPIn:
		w.request(&c.TLP.Hdr, c.TLP.Data)
	case boundary.TLPOut:
		h := c.TLP.Parsed()
		switch {
		case h.Kind == tlp.MRd:
			w.cov.Hit("reads sent", sizeClass(h), headerClass(h))
		case h.Kind == tlp.MWr:
			w.cov.Hit("writes sent", sizeClass(h), headerClass(h))
			w.leaves(&c, h)
		}
	}
}

func sizeClass(h *tlp.Header) string {
	_, n := h.Span()
	for _, most := range []int{4, 64, 128, 256, 512, 1024, 2048} {
		if n <= most {
			return fmt.Sprintf("up to %d B", most)
		}
	}
	return "up to 4096 B"
}

func headerClass(h *tlp.Header) string {
	if h.Addr64 {
		return "4 DW"
	}
	return "3 DW"
}

// request classifies an incoming TLP by kind.
func (w *watcher) request(hdr *[tlp.HeaderBytes]byte, data []byte) {
	var h tlp.Header
	in := core.DecodeInbound(hdr, &h)
	switch {
	case in == core.InCompletion && h.RequesterID != nicspec.RequesterNic:
		w.cov.Hit("TLPs taken", "completion for another requester")
	case in == core.InCompletion && h.EP:
		w.cov.Hit("TLPs taken", "completion, poisoned")
	case in == core.InCompletion && h.Status != tlp.StatusSC:
		w.cov.Hit("TLPs taken", "completion with status "+h.Status.String())
	case in == core.InCompletion:
		w.cov.Hit("TLPs taken", fmt.Sprintf("completion, %v", h.Kind))
	case in == core.InWrite && h.Address == nicspec.BarBase+nicspec.RegRxDefault && len(data) >= 4 &&
		int(data[0])|int(data[1])<<8 >= w.sizes.NumRxq && data[2] == 1:
		w.cov.Hit("rare", "default queue with high bits")
		w.access("write", &h)
	case in == core.InWrite:
		w.access("write", &h)
		if h.Address == nicspec.BarBase+nicspec.RegDevctl && len(data) >= 4 {
			w.setDevctl(data)
		}
		if h.Address == nicspec.BarBase+nicspec.RegCtrl && len(data) >= 4 {
			w.setCtrl(nicspec.CtrlReg(binary.LittleEndian.Uint32(data)))
		}
	case in == core.InRead:
		w.access("read", &h)
	case h.Kind == tlp.MRd || h.Kind == tlp.MWr:
		w.cov.Hit("TLPs taken", fmt.Sprintf("%v, %s", h.Kind, elsewhere(&h)))
	default:
		w.cov.Hit("TLPs taken", coverage.OtherName(hdr))
	}
}

func (w *watcher) setDevctl(data []byte) {
	w.devctl = nicspec.DevctlReg(uint32(data[0]) | uint32(data[1])<<8)
	w.cov.Hit("limits", fmt.Sprintf("MPS %d", mps(w.devctl)), fmt.Sprintf("MRRS %d", mrrs(w.devctl)))
}

func mps(d nicspec.DevctlReg) int {
	if d.Mps() > 2 {
		return 128
	}
	return 128 << d.Mps()
}

func mrrs(d nicspec.DevctlReg) int {
	if d.Mrrs() > 5 {
		return 128
	}
	return 128 << d.Mrrs()
}

// access classifies a request for BAR0 [G1].
func (w *watcher) access(what string, h *tlp.Header) {
	whole := h.FirstBE == 0xf && (h.Length == 1 && h.LastBE == 0 || h.LastBE == 0xf)
	shape := "of some bytes"
	switch {
	case h.Length > 2:
		shape = "of more than 2 DWs"
	case whole && h.Length == 2 && h.Address%8 != 0:
		shape = "of 2 DWs, not aligned"
	case whole:
		shape = fmt.Sprintf("of %d DWs", h.Length)
	}
	w.cov.Hit("TLPs taken", fmt.Sprintf("register %s %s", what, shape))
	if h.Length == 16 && h.FirstBE == 0xf && h.LastBE == 0xf &&
		registerAt(uint32(h.Address-nicspec.BarBase)) == "TX_PUSH" {
		w.cov.Hit("registers", "TX_PUSH", what)
	}
	if whole && shape != "of more than 2 DWs" {
		if r := registerAt(uint32(h.Address - nicspec.BarBase)); r != "" {
			w.cov.Hit("registers", r, what)
		}
	}
}

func registerAt(off uint32) string {
	for i := range nicspec.Registers {
		if _, _, ok := nicspec.Registers[i].Find(off); ok {
			return nicspec.Registers[i].Name
		}
	}
	return ""
}

func elsewhere(h *tlp.Header) string {
	switch {
	case h.EP:
		return "poisoned"
	case h.Addr64:
		return "elsewhere, 4 DW"
	}
	return "elsewhere, 3 DW"
}

// answered counts the status of an answer to a raw request.
func (w *watcher) answered(h *tlp.Header) { w.cov.Hit("answers", h.Status.String()) }

// struck counts a read that an injected fault made fail.
func (w *watcher) struck(f *inject.Fault, _ *tlp.Header) {
	w.cov.Hit("faults", f.Kind.String(), w.faultOf[f.From])
}

// event counts an Event entry of a queue.
func (w *watcher) event(r *ring, s nicspec.Status, index uint16) {
	if !r.Tx && index >= 64 {
		w.cov.Hit("rare", "failing descriptor read 64 places on")
	}
	if r.Tx {
		w.failedDeep(r, index)
	}
	w.cov.Hit("events", r.Kind(), s.String(), w.stall)
}

// message counts a message of a queue [M2].
func (w *watcher) message(tx bool, m *program.Msix) {
	count, cycles := "each entry", "no time limit"
	if m.Count > 1 {
		count = "several entries"
	}
	if m.Cycles > 0 {
		cycles = "time limit"
	}
	w.cov.Hit("messages", coverage.Direction(tx), count, cycles, w.stall)
}

// disabling counts the state of a queue about to be disabled.
func (w *watcher) disabling(r *ring) {
	state := "idle"
	switch {
	case r.event:
		state = "in error"
	case r.PI != r.CQI:
		state = "with entries"
	}
	w.cov.Hit("disabling", r.Kind(), state)
}

func (w *watcher) bell(tx bool, queue int, why string) {
	if why == "overfull" {
		w.cov.Hit("rare", "overfull receive doorbell")
	}
	if n := w.sizes.NumRxq; queue >= n {
		why = "beyond the build"
	}
	w.cov.Hit("doorbells", coverage.Direction(tx), why)
}

// command counts the result of a table command.
func (w *watcher) command(op nicspec.TableOp, t nicspec.Table, index int, s nicspec.TableStatus) {
	name := "no table"
	if t <= nicspec.TablePortCfg {
		name = t.String()
	}
	what := "other"
	if op == nicspec.TableOpWrite || op == nicspec.TableOpRead {
		what = op.String()
	}
	w.cov.Hit("table commands", name, what, s.String())
}

// counter hits the bin of a counter whose final value is not 0.
func (w *watcher) counter(c *nicspec.CounterInfo, port int, v uint64) {
	if v == 0 {
		return
	}
	if c.PerPort {
		w.cov.Hit("counters", c.Name, fmt.Sprintf("port %d", port))
	} else {
		w.cov.Hit("counters", c.Name, "device")
	}
}
