package driver

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
)

// Rule is a steering rule: frames whose SteerKey equals Value in the bits of Mask go to target To. The lowest matching
// rule wins [R5].
type Rule struct {
	Value, Mask nicspec.SteerKeyFields
	To          Target
}

// Target is the destination of frames. The zero value drops them.
type Target struct {
	Action  nicspec.Action
	Queue   int      // receive queue, or with action Rss the first entry of the group
	RSSLog  int      // action Rss: log2 of the entries of the group
	Account *Account // rules only: draws on a credit account; nil: none
}

// Account is a rule's use of a credit account [A2].
type Account struct {
	Number    int
	SlowQueue int // receive queue for frames that find no credit
}

// ToQueue returns the target of one receive queue.
func ToQueue(q int) Target { return Target{Action: nicspec.ActionQueue, Queue: q} }

// ToGroup returns the target of 2^log entries of the indirection table, starting at first.
func ToGroup(first, log int) Target {
	return Target{Action: nicspec.ActionRss, Queue: first, RSSLog: log}
}

// Validate returns every error of the target, for a build.
func (t *Target) Validate(b *nicspec.Build) error {
	var errs []error
	switch t.Action {
	case nicspec.ActionDrop:
	case nicspec.ActionQueue:
		errs = append(errs, checkIndex("receive queue", t.Queue, b.NumRxq))
	case nicspec.ActionRss:
		errs = append(errs, checkIndex("indirection entry", t.Queue, nicspec.RssEntries),
			checkIndex("rss_log", t.RSSLog, nicspec.RssLogMax+1))
		if !b.Has(nicspec.PartRss) {
			errs = append(errs, errors.New("driver: action Rss: want a NIC with part rss, which this one lacks [N2]"))
		}
	default:
		errs = append(errs, fmt.Errorf("driver: action %v: want Drop, Queue or Rss", t.Action))
	}
	if a := t.Account; a != nil {
		errs = append(errs, checkIndex("account", a.Number, nicspec.NumAccounts),
			checkIndex("slow-path receive queue", a.SlowQueue, b.NumRxq))
		if t.Action == nicspec.ActionDrop {
			errs = append(errs, errors.New("driver: a rule that drops draws on an account: want action Queue or Rss "+
				"[A2]"))
		}
		if !b.Has(nicspec.PartAccounts) {
			errs = append(errs, errors.New("driver: credit accounts: want a NIC with part accounts, which this one "+
				"lacks [N2]"))
		}
	}
	return errors.Join(errs...)
}

// SetRule sets a steering rule.
func (d *Driver) SetRule(index int, r Rule) error {
	if err := errors.Join(checkIndex("steering rule", index, d.opts.Build.NumRules),
		r.To.Validate(&d.opts.Build)); err != nil {
		return err
	}
	f := nicspec.RuleEntryFields{Valid: 1, Action: r.To.Action, Queue: uint16(r.To.Queue), RssLog: uint8(r.To.RSSLog)}
	if a := r.To.Account; a != nil {
		f.AccountEn, f.Account, f.SlowQueue = 1, uint8(a.Number), uint16(a.SlowQueue)
	}
	r.Value.Encode(f.Value[:])
	r.Mask.Encode(f.Mask[:])
	var entry [nicspec.RuleEntrySize]byte
	f.Encode(entry[:])
	return d.WriteTable(nicspec.TableRule, index, entry[:])
}

// DropRule invalidates a steering rule.
func (d *Driver) DropRule(index int) error {
	if err := checkIndex("steering rule", index, d.opts.Build.NumRules); err != nil {
		return err
	}
	return d.WriteTable(nicspec.TableRule, index, make([]byte, nicspec.RuleEntrySize))
}

// SetDefault sets the target of frames that match no rule, in register RX_DEFAULT.
func (d *Driver) SetDefault(t Target) error {
	if t.Account != nil {
		return errors.New("driver: the default target draws on an account: only rules can [A2]")
	}
	if err := t.Validate(&d.opts.Build); err != nil {
		return err
	}
	d.Write32(nicspec.RegRxDefault, uint32(t.Default()))
	return nil
}

// Default encodes the target for register RX_DEFAULT, without checking it.
func (t *Target) Default() (r nicspec.RxDefaultReg) {
	r.SetAction(uint32(t.Action))
	r.SetQueue(uint32(t.Queue))
	r.SetRssLog(uint32(t.RSSLog))
	return r
}

// SetRSSKey sets the key of the Toeplitz hash [S1].
func (d *Driver) SetRSSKey(key [nicspec.RssKeyBytes]byte) error {
	if err := d.needPart(nicspec.PartRss, "RSS key", "rss"); err != nil {
		return err
	}
	for i := range nicspec.RegRssKeyCount {
		b := key[4*i:]
		d.Write32(nicspec.RegRssKey(i), uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24)
	}
	return nil
}

// SetIndirection sets entries of the indirection table, from entry `first` on, to receive queues [S3].
func (d *Driver) SetIndirection(first int, queues ...int) error {
	if err := d.needPart(nicspec.PartRss, "indirection table", "rss"); err != nil {
		return err
	}
	errs := []error{checkIndex("indirection entry", first, nicspec.RssEntries)}
	if len(queues) > 0 {
		errs = append(errs, checkIndex("indirection entry", first+len(queues)-1, nicspec.RssEntries))
	}
	for _, q := range queues {
		errs = append(errs, checkIndex("receive queue", q, d.opts.Build.NumRxq))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i, q := range queues {
		var entry [nicspec.IndirectionEntrySize]byte
		(&nicspec.IndirectionEntryFields{Queue: uint16(q)}).Encode(entry[:])
		if err := d.WriteTable(nicspec.TableIndirection, first+i, entry[:]); err != nil {
			return err
		}
	}
	return nil
}
