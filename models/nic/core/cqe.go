package core

import "nictwin/models/nic/nicspec"

// BuildRxCqe writes the completion entry of a received frame of n bytes. The first hdr bytes of the
// frame went to the header buffer.
func BuildRxCqe(v *RxVerdict, n, hdr int, s *RxSlot, phase bool, dst *[nicspec.CqeBytes]byte) {
	*dst = [nicspec.CqeBytes]byte{}
	e := nicspec.RxCqe(dst[:])
	e.SetType(nicspec.CqeTypeRx)
	e.SetStatus(nicspec.StatusOk)
	e.SetQueue(s.Queue)
	e.SetIndex(s.Index)
	e.SetRule(v.Rule)
	e.SetPortSeq(s.Seq)
	e.SetFrameLen(uint16(n))
	e.SetHdrLen(uint16(hdr))
	e.SetPort(uint8(s.Port))
	v.Headers.fill(e)
	e.SetIpCsum(v.IPCsum)
	e.SetL4Csum(v.L4Csum)
	e.SetIcrc(v.ICRC)
	e.SetRssHash(v.Hash)
	e.SetSlowPath(s.SlowPath)
	e.SetAccountSeq(s.AccountSeq)
	e.SetPhase(phase)
}

// fill writes the parser's results.
func (h *Headers) fill(e nicspec.RxCqe) {
	e.SetL3Type(h.L3Type)
	e.SetL4Type(h.L4Type)
	e.SetVlanCount(h.VlanCount)
	e.SetFrag(h.Frag)
	e.SetRoce(h.Roce)
	e.SetIpLenBad(h.IPLenBad)
	e.SetL4LenBad(h.L4LenBad)
	e.SetVlanOuter(h.VlanOuter)
	e.SetVlanInner(h.VlanInner)
	e.SetL3Off(h.L3Off)
	e.SetL4Off(h.L4Off)
	e.SetPayloadOff(h.PayloadOff)
	e.SetEthertype(h.Ethertype)
	e.SetIpProto(h.IPProto)
	e.SetIpTos(h.IPTos)
	e.SetSrcPort(h.SrcPort)
	e.SetDstPort(h.DstPort)
	e.SetBthOpcode(h.BTHOpcode)
	e.SetBthFlags(h.BTHFlags)
	e.SetPkey(h.PKey)
	e.SetDestQp(h.DestQP)
	psn := h.PSN
	if h.AckReq {
		psn |= ackReqBit
	}
	e.SetPsn(psn)
}

const ackReqBit = 1 << 31

// BuildTxCqe writes the completion entry of the work entry whose first block is index. sent is the
// length of the frame that left, 0 if none did.
func BuildTxCqe(queue, index uint16, s nicspec.Status, id uint32, sent int, phase bool, dst *[nicspec.CqeBytes]byte) {
	*dst = [nicspec.CqeBytes]byte{}
	e := nicspec.TxCqe(dst[:])
	e.SetType(nicspec.CqeTypeTx)
	e.SetStatus(s)
	e.SetQueue(queue)
	e.SetIndex(index)
	e.SetWqeId(id)
	e.SetFrameLen(uint16(sent))
	e.SetPhase(phase)
}

// BuildEvent writes the entry by which a queue, receive or transmit, reports that it entered state
// Error [Q4, T2]; index is the first descriptor or block of the failed read.
func BuildEvent(queue, index uint16, s nicspec.Status, phase bool, dst *[nicspec.CqeBytes]byte) {
	*dst = [nicspec.CqeBytes]byte{}
	e := nicspec.TxCqe(dst[:]) // both kinds of entry have these fields at the same offsets
	e.SetType(nicspec.CqeTypeEvent)
	e.SetStatus(s)
	e.SetQueue(queue)
	e.SetIndex(index)
	e.SetPhase(phase)
}
