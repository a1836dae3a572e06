package root

import (
	"errors"

	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
)

// dropPool counts the invalidations in flight and keeps a free list of their accesses.
type dropPool struct {
	open int
	idle []*mem.Access
}

// invalidate drops the cache lines that an invalidate message of the NIC names [D4]. Lines outside
// memory are ignored.
func (r *Root) invalidate(h *tlp.Header, data []byte) {
	if h.Kind != tlp.MsgD || h.Code != nicspec.InvalidateCode || h.VendorID != nicspec.InvalidateVendor {
		return
	}
	const most = nicspec.CopyMax / nicspec.LineBytes
	if len(data) < nicspec.InvalidateMsgSize {
		r.fail(boundary.Breach("D4", "%s: invalidate message with %d bytes, want %d", r.Name(), len(data),
			nicspec.InvalidateMsgSize))
		return
	}
	m := nicspec.DecodeInvalidateMsg(data)
	if m.Lines == 0 || m.Lines > most {
		r.fail(boundary.Breach("D4", "%s: invalidate message for %d lines, want 1 to %d", r.Name(), m.Lines, most))
		return
	}
	var a *mem.Access
	if n := len(r.drops.idle); n > 0 {
		a, r.drops.idle = r.drops.idle[n-1], r.drops.idle[:n-1]
	} else {
		a = &mem.Access{Op: mem.Invalidate, Done: r.linesDropped}
	}
	a.Addr, a.Span, a.Err = m.Addr, int(m.Lines)*nicspec.LineBytes, nil
	r.drops.open++
	r.memory.Access(a)
}

func (r *Root) linesDropped(a *mem.Access) {
	if a.Err != nil && !errors.Is(a.Err, mem.ErrNoMemory) {
		r.fail(a.Err)
	}
	r.drops.open--
	r.drops.idle = append(r.drops.idle, a)
}
