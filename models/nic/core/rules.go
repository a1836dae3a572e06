package core

import "nictwin/models/nic/nicspec"

// writeRule stores an entry of table Rule.
func (r *Regs) writeRule(b []byte, e *Effect) {
	f := nicspec.DecodeRuleEntry(b)
	if e.Status = r.checkRule(&f); e.Status != nicspec.TableStatusOk {
		return
	}
	if !r.build.Has(nicspec.PartRss) {
		f.RssLog = 0
	}
	if !r.build.Has(nicspec.PartAccounts) {
		f.Account, f.SlowQueue = 0, 0
	}
	r.rules[e.Index] = f
	r.cfg.Rules = r.cfg.Rules.With(e.Index, &f)
	e.Kind = EffectRuleWritten
}

// checkRule checks the values of a rule, then that the build has the parts that the rule uses [G6,
// S5].
func (r *Regs) checkRule(f *nicspec.RuleEntryFields) nicspec.TableStatus {
	rss := f.Action == nicspec.ActionRss && r.build.Has(nicspec.PartRss)
	switch {
	case f.Valid > 1, !f.Action.Known(),
		rss && (f.Queue >= nicspec.RssEntries || f.RssLog > nicspec.RssLogMax),
		!rss && int(f.Queue) >= len(r.rxq),
		r.build.Has(nicspec.PartAccounts) && !r.accountFits(f):
		return nicspec.TableStatusBadValue
	case !r.build.Has(f.Action.Part()), f.AccountEn != 0 && !r.build.Has(nicspec.PartAccounts):
		return nicspec.TableStatusNotBuilt
	}
	return nicspec.TableStatusOk
}

// accountFits checks the account fields of a rule [A2, A6].
func (r *Regs) accountFits(f *nicspec.RuleEntryFields) bool {
	return f.AccountEn == 0 || f.AccountEn == 1 && f.Action != nicspec.ActionDrop &&
		f.Account < nicspec.NumAccounts && int(f.SlowQueue) < len(r.rxq)
}

// writeIndirection stores an entry of table Indirection.
func (r *Regs) writeIndirection(b []byte, e *Effect) {
	f := nicspec.DecodeIndirectionEntry(b)
	if int(f.Queue) >= len(r.rxq) {
		e.Status = nicspec.TableStatusBadValue
		return
	}
	r.cfg.Indirection = r.cfg.Indirection.With(e.Index, f.Queue)
	e.Kind = EffectIndirection
}
