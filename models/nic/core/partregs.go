package core

import (
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// rxParts holds the registers and tables of the optional parts of the receive side, except those in
// Config. accounts and portMAC are empty if the build lacks their parts.
type rxParts struct {
	accounts []Account
	portCfg  []nicspec.PortEntryFields
	portMAC  []uint32 // two words per port
}

func (p *rxParts) init(b *nicspec.Build) {
	p.portCfg = make([]nicspec.PortEntryFields, b.Ports)
	if b.Has(nicspec.PartAccounts) {
		p.accounts = make([]Account, nicspec.NumAccounts)
	}
	if b.Has(nicspec.PartPause) {
		p.portMAC = make([]uint32, 2*b.Ports)
	}
}

// writePart writes a register of an optional part. Writes to registers of parts that the build
// lacks have no effect.
func (r *Regs) writePart(off, v uint32) Effect {
	e := Effect{Reg: off}
	if i, ok := element(off, nicspec.RegRssKeyBase, nicspec.RegRssKeyCount); ok && r.cfg.Rss {
		r.cfg.RssKey = r.cfg.RssKey.With(i, v)
		e.Kind = EffectConfig
	} else if i, ok := element(off, nicspec.RegAccountCreditBase, len(r.accounts)); ok {
		r.accounts[i].Credit(v)
		e.Kind, e.Index, e.Value = EffectCredit, i, v
	} else if i, ok := element(off, nicspec.RegPortMacBase, len(r.portMAC)); ok {
		r.portMAC[i] = v
		e.Kind = EffectConfig
	}
	return e
}

// readPart reads a register of an optional part. Registers of parts that the build lacks read 0.
func (r *Regs) readPart(off uint32) uint32 {
	if i, ok := element(off, nicspec.RegRssKeyBase, nicspec.RegRssKeyCount); ok {
		return r.cfg.RssKey.Word(i)
	}
	if i, ok := element(off, nicspec.RegAccountCreditBase, len(r.accounts)); ok {
		return r.accounts[i].credit()
	}
	if i, ok := element(off, nicspec.RegPortMacBase, len(r.portMAC)); ok {
		return r.portMAC[i]
	}
	return 0
}

// element returns the index of a register in an array of 32-bit registers.
func element(off uint32, base, count int) (i int, ok bool) {
	i = (int(off) - base) / tlp.DWBytes
	return i, int(off) >= base && i < count
}
