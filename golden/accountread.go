package golden

import (
	"fmt"

	"nictwin/golden/accounts"
	"nictwin/models/nicspec"
)

// accountAt is the account whose credit register stands at an offset, nil if
// none does.
func (r *Referee) accountAt(off uint32) *account {
	i := (int(off) - nicspec.RegAccountCreditBase) / nicspec.RegAccountCreditStride
	if int(off) < nicspec.RegAccountCreditBase || i >= len(r.rx.accounts) {
		return nil
	}
	return &r.rx.accounts[i]
}

// creditRead compares a read of ACCOUNT_CREDIT [A5]; could is what it might
// show when it was accepted.
func (r *Referee) creditRead(a *account, could accounts.Range, asked int64, off, got uint32) {
	now := a.Range(asked, r.rx.unsure)
	could.Join(&now)
	const slowBit = 1 << 31
	if v := got &^ slowBit; !could.Balance.Has(v) || !could.State(got&slowBit != 0) {
		r.failRegister("A5", off, fmt.Sprintf("balance %v, slow %v", could.Balance, could.Slow), fmt.Sprintf("%#x", got))
	}
}

// accountWord compares a word of an account's entry.
func (r *Referee) accountWord(f *entryRead, off uint32, class wordClass, want, got uint32) {
	now := r.rx.accounts[f.queue].Range(f.cycle, r.rx.unsure)
	could := f.account
	could.Join(&now)
	ok, text := false, ""
	switch class {
	case wordBalance:
		ok, text = could.Balance.Has(got), could.Balance.String()
	case wordSlow:
		const slowByte = 0xff00
		ok = (got^want)&^slowByte == 0 && got&slowByte <= 1<<8 && could.State(got&slowByte != 0)
		text = fmt.Sprintf("%#x, slow %v", want&^slowByte, could.Slow)
	case wordDrawn:
		ok, text = could.Drawn.Has(got), could.Drawn.String()
	case wordSeq:
		ok, text = could.Seq.Has(got), could.Seq.String()
	}
	if !ok {
		r.failRegister("A1", off, text, fmt.Sprintf("%#x", got))
	}
}
