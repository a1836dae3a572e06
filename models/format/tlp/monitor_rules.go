package tlp

// payload checks the rules for every TLP: length, MPS, poison, digest.
func (m *Monitor) payload(h *Header, got int) {
	if want := h.PayloadBytes(); got != want {
		m.report(RuleLength, h, "payload bytes", Equal, uint64(want), uint64(got))
	} else if got > m.limits.MPS {
		m.report(RuleMPS, h, "payload bytes", AtMost, uint64(m.limits.MPS), uint64(got))
	}
	if h.EP && !h.Kind.HasData() {
		m.report(RulePoison, h, "EP", Equal, 0, 1)
	}
	if h.TD {
		m.report(RuleDigest, h, "TD", Equal, 0, 1)
	}
}

// requester checks the requester ID of the device's own requests.
func (m *Monitor) requester(h *Header) {
	if m.cfg.CheckDeviceID && m.dir == FromDevice && h.RequesterID != m.cfg.DeviceID {
		m.report(RuleRequesterID, h, "RequesterID", Equal, uint64(m.cfg.DeviceID), uint64(h.RequesterID))
	}
}

func (m *Monitor) memory(h *Header) {
	m.requester(h)
	if h.Addr64 && h.Address>>32 == 0 {
		m.report(RuleAddressFormat, h, "Addr64", Equal, 0, 1)
	}
	if end := int(h.Address&(PageBytes-1)) + int(h.Length)*DWBytes; end > PageBytes {
		m.report(RulePage, h, "end within 4 KB page", AtMost, PageBytes, uint64(end))
	}
	if f, expected := h.enablesFault(); expected != "" {
		m.describe(RuleByteEnables, h, f.String(), expected, h.Value(f))
	}
	if h.Kind == MRd {
		m.read(h)
	}
}

func (m *Monitor) read(h *Header) {
	mrrs := m.limits.MRRS
	if m.dir == ToDevice {
		mrrs = m.cfg.PeerMRRS
	}
	if n := int(h.Length) * DWBytes; n > mrrs {
		m.report(RuleMRRS, h, "request bytes", AtMost, uint64(mrrs), uint64(n))
	}
	if int(h.Tag) >= m.cfg.Tags {
		m.report(RuleTagRange, h, "Tag", AtMost, uint64(m.cfg.Tags-1), uint64(h.Tag))
	}
	off, n := h.Span()
	m.track(&request{hdr: *h, next: h.Address + uint64(off), left: n, cycle: m.cycle})
}

// track adds a request that needs completions. If its tag is in use, the new request replaces the
// old one.
func (m *Monitor) track(r *request) {
	if m.open[m.dir].remove(r.id()) {
		m.describe(RuleTagUnique, &r.hdr, "Tag", "a tag that is not outstanding", uint64(r.hdr.Tag))
	}
	m.open[m.dir].add(r)
}

// unsupported tracks a non-posted request of a type that Decode does not support, so that its
// completion is not reported as unexpected. Of the completion, only status, TC and attributes are
// checked.
func (m *Monitor) unsupported(hdr *[HeaderBytes]byte) {
	cpl, ok := Unsupported(hdr, 0)
	if !ok {
		return
	}
	req := Header{RequesterID: cpl.RequesterID, Tag: cpl.Tag, TC: cpl.TC, Attr: cpl.Attr}
	m.track(&request{hdr: req, left: int(cpl.ByteCount), cycle: m.cycle})
}

func (m *Monitor) message(h *Header) {
	m.requester(h)
	if h.Routing > RouteGathered {
		m.report(RuleMessage, h, "Routing", AtMost, uint64(RouteGathered), uint64(h.Routing))
		return
	}
	if h.Code != CodeVendor0 && h.Code != CodeVendor1 {
		return // the rules for other messages do not concern this device
	}
	if !vendorRouting(h.Routing) {
		m.describe(RuleMessage, h, "Routing", "root, id, broadcast or local", uint64(h.Routing))
	}
	if h.Routing != RouteByID && h.TargetID != 0 {
		m.report(RuleMessage, h, "TargetID", Equal, 0, uint64(h.TargetID))
	}
}

// completion checks a completion against its request, which crossed in the other direction.
func (m *Monitor) completion(h *Header) {
	if m.cfg.CheckDeviceID && m.dir == FromDevice && h.CompleterID != m.cfg.DeviceID {
		m.report(RuleCompleterID, h, "CompleterID", Equal, uint64(m.cfg.DeviceID), uint64(h.CompleterID))
	}
	open := &m.open[m.dir.opposite()]
	r := open.find(transactionID(h))
	if r == nil {
		m.describe(RuleUnexpected, h, "Tag", "a tag that is outstanding at this requester", uint64(h.Tag))
		return
	}
	m.copiedFields(h, r)
	if r.hdr.Kind == MRd {
		m.position(h, r)
	}
	if more := m.status(h, r); !more || m.progress(h, r) {
		open.remove(transactionID(h))
	}
}

// copiedFields checks the fields that a completion copies from its request or from the earlier
// completions.
func (m *Monitor) copiedFields(h *Header, r *request) {
	if h.TC != r.hdr.TC {
		m.report(RuleCplAttr, h, "TC", Equal, uint64(r.hdr.TC), uint64(h.TC))
	}
	if (h.Attr^r.hdr.Attr)&attrLowMask != 0 { // the completer may choose IDO (PCIe 2.2.6.4)
		m.report(RuleCplAttr, h, "Attr", Equal, uint64(r.hdr.Attr), uint64(h.Attr))
	}
	if r.answered && h.CompleterID != r.completer {
		m.report(RuleCompleterID, h, "CompleterID", Equal, uint64(r.completer), uint64(h.CompleterID))
	}
	r.completer, r.answered = h.CompleterID, true
}

// position checks byte count and lower address, which say where in the request's data a completion
// is. An unsuccessful completion may have a lower address of zero.
func (m *Monitor) position(h *Header, r *request) {
	if h.BCM {
		m.report(RuleByteCount, h, "BCM", Equal, 0, 1)
	}
	if int(h.ByteCount) != r.left {
		m.report(RuleByteCount, h, "ByteCount", Equal, uint64(r.left), uint64(h.ByteCount))
	}
	want := r.next & lowerAddrMask
	if uint64(h.LowerAddr) != want && (h.Status == StatusSC || h.LowerAddr != 0) {
		m.report(RuleLowerAddr, h, "LowerAddr", Equal, want, uint64(h.LowerAddr))
	}
}

// status checks that status and kind of a completion agree, and reports whether more completions
// may follow.
func (m *Monitor) status(h *Header, r *request) bool {
	switch {
	case h.Status == StatusSC && r.hdr.Kind == MRd && h.Kind != CplD:
		m.report(RuleStatus, h, "Kind", Equal, uint64(CplD), uint64(h.Kind))
	case (h.Status == StatusUR || h.Status == StatusCA) && h.Kind != Cpl:
		m.report(RuleStatus, h, "Kind", Equal, uint64(Cpl), uint64(h.Kind))
	case h.Status == StatusCRS && r.hdr.Kind == MRd:
		m.describe(RuleStatus, h, "Status", "SC, UR or CA for a memory read", uint64(h.Status))
	case h.Status > StatusCA || h.Status == 3:
		m.describe(RuleStatus, h, "Status", "SC, UR, CRS or CA", uint64(h.Status))
	}
	return h.Status == StatusSC && h.Kind == CplD && r.hdr.Kind == MRd
}

// progress counts the data of a completion, and reports whether the request is complete.
func (m *Monitor) progress(h *Header, r *request) (done bool) {
	lead := int(r.next & (DWBytes - 1))
	brought := int(h.Length)*DWBytes - lead
	if brought >= r.left {
		if want := (lead + r.left + DWBytes - 1) / DWBytes; int(h.Length) != want {
			m.report(RuleCplLength, h, "Length", AtMost, uint64(want), uint64(h.Length))
		}
		return true
	}
	rcb := EndpointRCB
	if m.dir == ToDevice {
		rcb = m.limits.RCB
	}
	r.next += uint64(brought)
	r.left -= brought
	if r.next&uint64(rcb-1) != 0 {
		m.report(RuleRCB, h, "end address", MultipleOf, uint64(rcb), r.next)
	}
	return false
}
