package transport

import (
	"fmt"

	"nictwin/models/format/wire"
	"nictwin/models/rnic/core"
	"nictwin/models/rnic/rnicspec"
	"nictwin/stack/verbs"
)

// hardware is a Conn that is a queue pair of models/rnic: an independent implementation of the standard, with its own
// headers and checks.
type hardware struct {
	end             *end
	kind            Kind
	dev             *core.Device
	qp              *core.QP
	e               core.Effects
	replies         []core.Reply
	packet          int // number of the next packet of replies[0]
	timing          bool
	steps           uint64
	failureReported bool // the failure of the queue pair was reported
	ah              *AH  // builds frames from received packets
	stats           Stats
	driver          []byte // memory of keyDriver
}

const (
	keyDriver  = 2
	driverBase = 0x9_0000_0000
)

var _ Conn = (*hardware)(nil)

// newHardware creates a queue pair with the regions of the rig.
func newHardware(e *end, kind Kind, qpn uint32) *hardware {
	h := &hardware{end: e, kind: kind, dev: core.NewDevice(), ah: NewAH(path(int(1-e.side), e.v6))}
	for _, r := range []core.Region{
		{Key: keyLocal, Access: rnicspec.LocalWrite, VA: base64k, Bytes: memBytes},
		{Key: keyRemote, Access: rnicspec.AllAccess, VA: base64k + remoteAt, Bytes: memBytes - remoteAt},
		{Key: keyDriver, VA: driverBase, Bytes: memBytes},
		{Key: keyReads, Access: rnicspec.RemoteRead, VA: base64k + remoteAt, Bytes: memBytes - remoteAt},
	} {
		r.Bus, r.PageLog = r.VA, 12
		h.dev.Register(r)
	}
	for k := range uint32(64) {
		h.dev.Register(core.Region{Key: keyInv + k, PageLog: 12, VA: base64k, Bytes: 1})
	}
	h.qp = h.dev.Add(qpn, map[Kind]rnicspec.QPType{RC: rnicspec.RC, UC: rnicspec.UC, UD: rnicspec.UD}[kind])
	return h
}

// connect takes the queue pair to RTS.
func (h *hardware) connect(a Attr, qkey uint32) {
	h.qp.Connect(rnicspec.RTS, core.Attributes{
		DestQP: a.DestQP, SendPSN: a.SendPSN, RecvPSN: a.RecvPSN, PMTU: int(a.MTU), Access: rnicspec.AllAccess,
		MaxRead: int(max(a.MaxRead, 1)),
		MinRNR:  a.MinRNR, Retries: int(a.RetryCount), RNRRetry: int(a.RNRRetry), Timeout: int64(a.rto()), QKey: qkey,
		Address: addressOf(a.Path),
	})
}

func addressOf(p Path) core.Address {
	a := core.Address{SrcMAC: p.Local.MAC, DstMAC: p.Peer.MAC, UDPPort: p.SourcePort, TOS: p.TrafficClass,
		TTL: p.HopLimit, V6: !p.Local.IP.Is4()}
	copy(a.SrcIP[:], p.Local.IP.AsSlice())
	copy(a.DstIP[:], p.Peer.IP.AsSlice())
	return a
}

var hardwareOps = map[verbs.Opcode]rnicspec.Opcode{
	verbs.WRSend: rnicspec.Send, verbs.WRSendImm: rnicspec.SendImm, verbs.WRWrite: rnicspec.Write,
	verbs.WRWriteImm: rnicspec.WriteImm,
	verbs.WRRead:     rnicspec.Read, verbs.WRCmpSwap: rnicspec.CmpSwap, verbs.WRFetchAdd: rnicspec.FetchAdd,
}

var hardwareStatuses = [rnicspec.NumStatuses]verbs.Status{
	rnicspec.OK: verbs.WCSuccess, rnicspec.LocalLength: verbs.WCLocLenErr, rnicspec.LocalQP: verbs.WCLocQPOpErr,
	rnicspec.LocalProtection: verbs.WCLocProtErr,
	rnicspec.Flushed:         verbs.WCFlushErr, rnicspec.RemoteInvalid: verbs.WCRemInvReqErr,
	rnicspec.RemoteAccess:    verbs.WCRemAccessErr,
	rnicspec.RemoteOperation: verbs.WCRemOpErr, rnicspec.RetryExceeded: verbs.WCRetryExcErr,
	rnicspec.RNRExceeded: verbs.WCRNRRetryExcErr,
}

// whole returns the contiguous range that the spans make up.
func whole(spans []Span) (addr uint64, n uint32) {
	for i, s := range spans {
		if i > 0 && s.Addr != addr+uint64(n) {
			panic(fmt.Sprintf("spans %v are no range", spans))
		}
		if i == 0 {
			addr = s.Addr
		}
		n += s.Len
	}
	return addr, n
}

// Post converts a request to a work entry.
func (h *hardware) Post(_ Ps, s *Send) error {
	op, ok := hardwareOps[s.Op]
	if !ok {
		return ErrOpcode
	}
	w := rnicspec.WQE{Opcode: op, ID: s.ID, Imm: s.Imm, RemoteVA: s.RemoteAddr, RemoteKey: s.RKey, LocalKey: keyLocal,
		SwapAdd: s.Swap, Compare: s.CompareAdd,
		DestQP: s.RemoteQP, QKey: s.RemoteQKey}
	if s.Op == verbs.WRFetchAdd {
		w.SwapAdd = s.CompareAdd
	}
	w.LocalVA, w.Length = whole(s.Spans)
	for flag, bit := range map[verbs.SendFlags]uint8{verbs.SendSignaled: rnicspec.FlagSignalled,
		verbs.SendFence: rnicspec.FlagFence, verbs.SendSolicited: rnicspec.FlagSolicited} {
		if s.Flags&flag != 0 {
			w.Flags |= bit
		}
	}
	switch n := len(s.Inline); {
	case n > rnicspec.MaxInline: // a driver would copy such data to its own memory
		w.LocalKey, w.LocalVA, w.Length = keyDriver, driverBase+uint64(len(h.driver)), uint32(n)
		h.driver = append(h.driver, s.Inline...)
	case s.Flags&verbs.SendInline != 0:
		w.Flags |= rnicspec.FlagInline
		w.Length = uint32(copy(w.Inline[:], s.Inline))
	}
	h.e.Reset()
	h.qp.Post(w, &h.e)
	h.finish(nil)
	return nil
}

// PostRecv converts a request to a receive entry.
func (h *hardware) PostRecv(r *Recv) error {
	w := rnicspec.RecvWQE{ID: r.ID, Key: keyLocal}
	w.VA, w.Length = whole(r.Spans)
	h.e.Reset()
	h.qp.PostRecv(w, &h.e)
	h.finish(nil)
	return nil
}

// Input builds a frame from a packet and passes it in. Copies end at once.
func (h *hardware) Input(now Ps, p *Packet) {
	h.end.dispose(p.Handle)
	var head [maxHead]byte
	b := h.end.raw
	n := h.ah.put(head[:], len(b)+wire.ICRCSize, 0xc123)
	frame := append(append(append([]byte(nil), head[:n]...), b...), 0, 0, 0, 0)
	if err := wire.InsertFrameICRC(frame); err != nil {
		h.end.failf("side %d: %v", h.end.side, err)
	}
	var q core.Packet
	if d := q.Decode(frame); d != core.Kept {
		h.end.failf("side %d: the hardware drops %v PSN %#x: %d", h.end.side, p.BTH.Opcode, p.BTH.PSN, d)
		return
	}
	h.e.Reset()
	if q.IsResponse() {
		h.qp.Answer(&q, &h.e)
	} else {
		h.qp.Respond(&q, &h.e)
	}
	h.finish(&q)
}

// finish performs the actions that the queue pair requests.
func (h *hardware) finish(p *core.Packet) {
	e := h.end
	for _, x := range h.e.Place {
		copy(e.at(x.Bus, uint32(len(x.Data))), x.Data)
	}
	for i := range h.e.Done {
		h.complete(&h.e.Done[i], p)
	}
	if h.e.Wait > 0 {
		e.after(Ps(h.e.Wait), func() {
			h.qp.Resume()
			e.pull()
		})
	}
	if r := h.e.Reply; r.Kind != core.NoReply {
		if r.Kind == core.AtomicReply {
			cell := e.at(r.Bus, 8)
			putValue(cell, h.qp.Apply(&r, value(cell)))
		}
		h.replies = append(h.replies, r)
	}
	if h.qp.State == rnicspec.Failed && !h.failureReported {
		h.failureReported = true
		e.Async(EventQPFatal)
	}
	h.watch()
}

// complete reports the completion of a work queue entry as a Completion of this package.
func (h *hardware) complete(d *core.Completion, p *core.Packet) {
	c := Completion{ID: d.ID, Status: hardwareStatuses[d.Status], Recv: d.Recv}
	if d.Status == rnicspec.OK {
		c.ByteLen, c.Imm, c.HasImm, c.SrcQP = d.Bytes, d.Imm, d.HasImm, d.SrcQP
		switch {
		case !d.Recv:
			for op, hw := range hardwareOps {
				if hw == d.Opcode {
					c.Opcode = op.Completion()
				}
			}
		case d.Opcode == rnicspec.RecvWrite:
			c.Opcode = verbs.WCRecvWriteWithImm
		default:
			c.Opcode = verbs.WCRecv
		}
		if d.Recv && p.Opcode.Info().Has(wire.HeaderIETH) {
			_, _, there := h.dev.Page(p.Inv, base64k)
			c.HasInv, c.InvKey = true, p.Inv
			h.end.dead[p.Inv] = !there
		}
	}
	h.end.Complete(&c)
}

// watch drives the timer, as models/rnic does.
func (h *hardware) watch() {
	if h.timing || h.qp.Attributes.Timeout == int64(Never) || !h.qp.Outstanding() {
		return
	}
	h.timing, h.steps = true, h.qp.Steps()
	h.end.after(Ps(h.qp.Attributes.Timeout), func() {
		h.timing = false
		if h.qp.Outstanding() && h.qp.Steps() == h.steps {
			h.stats.Timeouts++
			h.e.Reset()
			h.qp.Timeout(&h.e)
			h.finish(nil)
		}
		h.watch()
		h.end.pull()
	})
}

// Next builds the next packet: replies go before requests.
func (h *hardware) Next(_ Ps, o *Out) bool {
	*o = Out{CRCAt: -1, Spans: o.Spans[:0]}
	if len(h.replies) > 0 {
		h.reply(o)
		return true
	}
	var g core.Outgoing
	h.e.Reset()
	ok := h.qp.Next(&g, &h.e)
	if ok {
		a := g.Addr
		if a == nil {
			a = &h.qp.Address
		}
		h.put(o, &g.Packet, a, g.Len)
		if o.Inline = g.Inline; g.Key == keyDriver {
			o.Inline = h.driver[g.Bus-driverBase:][:g.Len]
		} else if g.Inline == nil && g.Len > 0 {
			o.Spans = append(o.Spans, Span{Addr: g.Bus, Len: uint32(g.Len), Key: keyLocal})
		}
		if g.Report {
			h.e.Done = append(h.e.Done, g.Done)
		}
		h.stats.Sent++
	}
	h.finish(nil)
	return ok
}

// reply builds the next packet of the oldest reply.
func (h *hardware) reply(o *Out) {
	r := &h.replies[0]
	var p core.Packet
	off, n := h.qp.PlanReply(r, h.packet, &p)
	h.put(o, &p, &h.qp.Address, n)
	if n > 0 {
		o.Spans, o.Remote = append(o.Spans, Span{Addr: r.Bus + uint64(off), Len: uint32(n), Key: keyRemote}), true
	}
	if p.Opcode == wire.RCAck {
		h.stats.Acks++
		switch s := p.AETH.Syndrome; {
		case s == wire.NAKSequence:
			h.stats.SequenceNAKs++
		case s.Kind() == wire.SyndromeRNR:
			h.stats.RNRs++
		}
	}
	if h.packet++; h.packet == h.qp.ReplyPackets(r) {
		if (r.Kind == core.ReadReply || r.Kind == core.AtomicReply) && !r.Again {
			h.qp.ReadDone()
		}
		h.replies, h.packet = h.replies[1:], 0
	}
}

// put writes headers with the encoder of models/rnic.
func (h *hardware) put(o *Out, p *core.Packet, a *core.Address, n int) {
	size, _ := p.FrameBytes(a, n)
	frame := make([]byte, size)
	p.Encode(frame, a, n)
	if !a.V6 {
		if err := wire.SetIPv4HeaderChecksum(frame[etherSize:]); err != nil {
			h.end.failf("side %d: %v", h.end.side, err)
		}
	}
	o.Head, o.Payload, o.Tail = frame[:p.PayloadAt(a)], n, make([]byte, -n&3)
	o.Opcode, o.PSN = p.Opcode, wire.BTH(o.Head[bthAt(a):]).PSN()
}

// bthAt returns the offset of the BTH in a frame.
func bthAt(a *core.Address) int {
	if a.V6 {
		return etherSize + ipv6Size + udpSize
	}
	return etherSize + ipv4Size + udpSize
}

func (h *hardware) Deadline() Ps                               { return Never }
func (h *hardware) Expire(Ps)                                  {}
func (h *hardware) Placed(Ps, Token, verbs.Status)             {}
func (h *hardware) AtomicDone(Ps, Token, uint64, verbs.Status) {}
func (h *hardware) SetRights(verbs.Access, uint32)             {}
func (h *hardware) Sent(Ps, Token)                             {}
func (h *hardware) Stats() Stats {
	s := h.stats
	s.Duplicates, s.Resent = h.dev.Duplicates, h.dev.Retries
	return s
}

func (h *hardware) Modify(_ Ps, to verbs.State, a *Attr) error {
	switch to {
	case verbs.QPSRTS:
		h.connect(*a, 0x5555)
	case verbs.QPSErr:
		h.e.Reset()
		h.failureReported = true
		h.qp.Fail(rnicspec.OK, &h.e)
		h.finish(nil)
	}
	return nil
}

func (h *hardware) State() verbs.State {
	if h.qp.State == rnicspec.Failed {
		return verbs.QPSErr
	}
	return verbs.QPSRTS
}
