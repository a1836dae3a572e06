package golden

import (
	"bytes"
	"fmt"

	"nictwin/golden/attribution"
	"nictwin/golden/verdict"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
)

// messageOut judges an invalidation message that the device sent [D4, D5].
func (r *Referee) messageOut() {
	if !r.cfg.Build.Has(nicspec.PartCopy) {
		r.log.AddCrossing(verdict.Device)
		r.log.Fail(verdict.Device, "P2", "Kind", "MRd, MWr, Cpl or CplD", r.hdr.Kind.String(), r.x.TLP.String())
		return
	}
	r.stats.Compared++
	e, due := r.sentBy(r.x.TLP.Data)
	if e == nil {
		r.log.AddCrossing(verdict.Device)
		r.log.Fail(verdict.Device, "D4", "payload", "the range of an Invalidate or CopyInvalidate at work",
			fmt.Sprintf("%x", r.x.TLP.Data), r.hdr.String())
		return
	}
	d := e.Queue.Domain()
	r.log.AddCrossing(d)
	if err := dma.SetMessage(&r.tx.msg, &e.Plan.Dma); err != nil {
		panic("golden: an invalidate message cannot be encoded: " + err.Error())
	}
	want := r.tx.msg.Parsed()
	if f, differ := tlp.Diff(want, &r.hdr); differ {
		r.log.Fail(d, "D4", f.Field.String(), diffValue(want, f.Field), diffValue(&r.hdr, f.Field),
			"expected "+want.String(), "got      "+r.hdr.String())
	} else if !bytes.Equal(r.tx.msg.Data, r.x.TLP.Data) {
		r.failEntry(e, d, "D4", "payload", fmt.Sprintf("%x", r.tx.msg.Data), fmt.Sprintf("%x", r.x.TLP.Data))
	}
	if o := r.ent.Before(e); !due && o != nil {
		r.log.FailOf(e.Subject(), d, "D8", "message", fmt.Sprintf("none for entry %d before entry %d has ended",
			e.Index, o.Index), "sent", e.Describe(), o.Describe())
	} else if !due {
		r.failEntry(e, d, "D5", "message", "after all reads have come back and all writes have left", "before")
	}
	r.ent.TakeReading(e.Queue.Slot(e.Index), e)
	r.checkFence(e, "message")
	e.Copy.MessageSent = true
	r.copyOver(e)
}

// sentBy returns the entry that most likely sent a message with this payload, and reports whether
// it may send it now: an entry that is due and names the range, else one that names the range, else
// one that is due.
func (r *Referee) sentBy(payload []byte) (best *attribution.Entry, due bool) {
	score := 0
	for k := range r.tx.queues {
		q := &r.tx.queues[k]
		for i := q.Oldest; q.Open && q.Copies && i != q.Ctx.PI; i = q.After(i) {
			for e := q.Slot(i).Entry; e != nil; e = e.Alt {
				p := &e.Plan.Dma
				if !e.Plan.Copy || p.Lines == 0 || e.Copy.MessageSent || e.Never {
					continue
				}
				names := len(payload) >= nicspec.InvalidateMsgSize && nicspec.InvalidateMsg(payload).Addr() == p.Line &&
					nicspec.InvalidateMsg(payload).Lines() == p.Lines
				now := e.Copied() && e.Fails == 0 && r.ent.Before(e) == nil
				s := 0
				if names {
					s = 2
				}
				if now {
					s++
				}
				if s > score {
					best, due, score = e, now, s
				}
			}
		}
	}
	return best, due
}
