package apps

import (
	"fmt"

	"nictwin/models/sim/field"
	"nictwin/stack/verbs"
)

// keyBytes are those of each region that a message ends the rights to.
const keyBytes = line

// revocable registers a region for each message of the flows whose server this is: SEND_WITH_INV ends it.
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
		err := u.verbs(s, "reg_mr", u.spec.Count, func(m int, done func(error)) {
			s.Context.RegMR(s.pd, r.near.at(m, 0), keyBytes, verbs.AccessLocalWrite|verbs.AccessRemoteWrite,
				into(&r.keys[m], done))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// revoked are the regions of a server, by end.
func (s *side) revoked() (all []verbs.MR) {
	for _, e := range s.ends {
		if r, ok := e.role.(*server); ok {
			all = append(all, r.keys...)
		}
	}
	return all
}

// revoke has request m end the rights to its region, or use those that the request before it ended.
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

// checkInv holds a message to the region whose rights it had to end.
func (s *server) checkInv(wc *verbs.WC, m int) {
	key := uint32(0) // that it had to end
	if s.spec.Invalidate {
		key = s.keys[m].RKey
	}
	if has := wc.Flags&verbs.WCWithInv != 0; has != s.spec.Invalidate || has && wc.InvKey != key {
		s.fail(Wrong{What: "invalidation", Message: m, Text: fmt.Sprintf("message %d: it invalidated key %#x (%v): "+
			"expected %#x (%v)", m, wc.InvKey, has, key, s.spec.Invalidate)})
	}
}

// validateRevoke holds a workload that invalidates to what can.
func (s *Spec) validateRevoke(bad func(ok bool, path field.Path, format string, a ...any)) {
	bad(!s.Invalidate || s.Kind == Send && s.Transport == RC && !s.Immediate, "invalidate",
		": want false, or kind %s over %s without %v", Send, RC, field.Path("immediate"))
	if s.Misuse != nil && s.Misuse.What == RevokedKey {
		bad(s.Invalidate && s.Misuse.Message > 0, "misuse.what", "%s: want %v, and a message behind the first",
			RevokedKey, field.Path("invalidate"))
	}
}
