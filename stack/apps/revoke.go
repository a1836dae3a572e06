package apps

import (
	"fmt"

	"nictwin/models/sim/field"
	"nictwin/stack/verbs"
)

// keyBytes is the length of each region that a message invalidates.
const keyBytes = line

// revocable registers one memory region for each message that the server will receive. SEND_WITH_INV invalidates it.
func (u *setup) revocable(s *side) error {
	if !u.spec.Invalidate {
		return nil
	}
	for _, e := range s.ends {
		r, ok := e.role.(*server)
		if !ok {
			continue
		}
		r.keys = make([]verbs.MR, u.spec.Count)
		err := u.runVerbs(s, "reg_mr", u.spec.Count, func(m int, done func(error)) {
			s.Context.RegMR(s.pd, r.exposed.pieceAddr(m, 0), keyBytes, verbs.AccessLocalWrite|verbs.AccessRemoteWrite,
				storeIn(&r.keys[m], done))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// revoked returns the server's revocable regions, by end.
func (s *side) revoked() (all []verbs.MR) {
	for _, e := range s.ends {
		if r, ok := e.role.(*server); ok {
			all = append(all, r.keys...)
		}
	}
	return all
}

// revoke makes request m invalidate its region or, with fault revoked_key, write to the region invalidated before.
func (c *client) revoke(w *verbs.SendWR, m int) {
	if !c.spec.Invalidate {
		return
	}
	w.InvKey = c.revocable[m].RKey
	if x := c.spec.Misuse; x != nil && x.What == RevokedKey && c.flow == 0 && m == x.Message {
		before := c.revocable[m-1]
		w.Opcode, w.RemoteAddr, w.RKey = verbs.WRWrite, before.Addr, before.RKey
	}
}

// checkInv checks which region a message invalidated.
func (s *server) checkInv(wc *verbs.WC, m int) {
	key := uint32(0) // the expected key
	if s.spec.Invalidate {
		key = s.keys[m].RKey
	}
	if has := wc.Flags&verbs.WCWithInv != 0; has != s.spec.Invalidate || has && wc.InvKey != key {
		s.fail(Finding{What: "invalidation", Message: m, Text: fmt.Sprintf("message %d: it invalidated key %#x (%v): "+
			"expected %#x (%v)", m, wc.InvKey, has, key, s.spec.Invalidate)})
	}
}

// validateRevoke rejects workloads that cannot invalidate.
func (s *Spec) validateRevoke(bad func(ok bool, path field.Path, format string, a ...any)) {
	bad(!s.Invalidate || s.Transport == RC && !s.Immediate, "invalidate",
		": SENDs over %s without immediate data can invalidate: want false, or %v %s and %v false", RC,
		field.Path("transport"), RC, field.Path("immediate"))
	if s.Misuse != nil && s.Misuse.What == RevokedKey {
		bad(s.Invalidate && s.Misuse.Message > 0, "misuse.what", "%s: want %v, and a message behind the first",
			RevokedKey, field.Path("invalidate"))
	}
}
