package player

import (
	"fmt"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/coverage"
)

func lengthClass(n int) string {
	for _, l := range coverage.Lengths {
		if n <= l.Most {
			return l.Name
		}
	}
	return "longer"
}

func alignClass(bus uint64) string {
	switch {
	case bus%64 == 0:
		return "64 B"
	case bus%4 == 0:
		return "4 B"
	}
	return "odd"
}

func pages(bus uint64, n int) string {
	switch (bus+uint64(n)-1)/tlp.PageBytes - bus/tlp.PageBytes {
	case 0:
		return "in a page"
	case 1:
		return "in 2 pages"
	}
	return "in 3 pages"
}

func numberClass(n, of int) string {
	switch {
	case n == 0:
		return "first"
	case n == of-1:
		return "last"
	case n == nicspec.RuleNone:
		return "none"
	}
	return "between"
}

// lap classifies how often the index has gone around a ring of 2^log entries.
func lap(index uint16, log int) string {
	switch index >> log {
	case 0:
		return "lap 1"
	case 1:
		return "lap 2"
	}
	return "later lap"
}

// delivered counts a delivered frame.
func (w *watcher) delivered(r *rxRing, c nicspec.RxCqe, d *posted) {
	if w.cov == nil || r.frees > mostCounted {
		return
	}
	n, h := int(c.FrameLen()), int(c.HdrLen())
	split := r.cfg.Split.String()
	w.cov.Hit("receive", "split "+split, lengthClass(n), w.stall)
	if h > 0 {
		w.cov.Hit("receive buffers", "header", "split "+split, alignClass(d.hdr), coverage.RegionNames[d.hdrP.Region()])
	}
	p := n - h
	if w.sizes.Has(nicspec.PartTrim) {
		p = int(c.PayLen())
	}
	if p > 0 {
		w.cov.Hit("receive buffers", "payload", "split "+split, alignClass(d.pay),
			coverage.RegionNames[d.payP.Region()])
		w.cov.Hit("receive pages", pages(d.pay, p), fmt.Sprintf("MPS %d", mps(w.devctl)))
	} else {
		w.cov.Hit("receive pages", "no payload", "")
	}
	w.cov.Hit("receive rings", coverage.LogClass(r.Log), lap(c.Index(), r.Log))
	w.cov.Hit("receive queues", numberClass(r.Number, w.sizes.NumRxq), fmt.Sprintf("port %d", c.Port()))
	w.cov.Hit("rules", numberClass(int(c.Rule()), w.sizes.NumRules))
	w.trimmed(r, c)
	w.rareQueue(r)
	w.parsed(c)
	w.parts(r, c)
	w.arrived(r, c)
}

// parsed counts the header fields of a completion entry.
func (w *watcher) parsed(c nicspec.RxCqe) {
	l4 := c.L4Type().String()
	if c.Roce() {
		l4 = "RoCE"
		w.cov.Hit("RoCE opcodes", coverage.OpcodeName(c.BthOpcode()))
	}
	w.cov.Hit("headers", fmt.Sprintf("%d tags", c.VlanCount()), c.L3Type().String(), l4)
	w.cov.Hit("checks", "IP "+c.IpCsum().String(), "L4 "+c.L4Csum().String(), "ICRC "+c.Icrc().String())
	if c.L3Type() != nicspec.L3TypeNone {
		w.cov.Hit("lengths that lie", c.L3Type().String(), coverage.Truth("IP", c.IpLenBad()),
			coverage.Truth("UDP", c.L4LenBad()))
	}
	if c.L3Type() == nicspec.L3TypeIpv4 && c.L4Type() != nicspec.L4TypeNone {
		w.cov.Hit("IPv4 headers", fmt.Sprintf("%d words", (c.L4Off()-c.L3Off())/4))
	}
	if c.Frag() {
		w.cov.Hit("fragments", l4)
	}
}

// parts counts the completion entry's fields of optional parts.
func (w *watcher) parts(r *rxRing, c nicspec.RxCqe) {
	if w.sizes.Has(nicspec.PartRss) {
		how := "no hash"
		if c.RssHash() != 0 {
			how = "hash"
		}
		w.cov.Hit("RSS", c.L3Type().String(), c.L4Type().String(), how)
	}
	if w.sizes.Has(nicspec.PartAccounts) && c.AccountSeq() > 0 {
		how := "fast"
		if c.SlowPath() {
			how = "slow"
		}
		w.cov.Hit("accounts", how)
	}
	if w.sizes.Has(nicspec.PartCrc32c) {
		w.cov.Hit("CRC-32C received", "mode "+r.cfg.Crc.String(), c.Crc32c().String())
	}
	if w.sizes.Has(nicspec.PartEcn) && c.L3Type() != nicspec.L3TypeNone {
		w.cov.Hit("ECN received", fmt.Sprintf("mode %d", r.cfg.Ecn), c.L3Type().String(),
			fmt.Sprintf("ECN %d", c.IpTos()&3))
	}
}
