package dutnew

import (
	"slices"
	"strings"
)

// headerWords end the name of a handshake whose fields are named without them: s_ip_hdr_valid beside s_ip_length and
// s_eth_type.
var headerWords = []string{"hdr", "header", "meta", "metadata"}

// headers gives fields to records of headers that found none by their own names: pins of their direction that begin as
// they do.
func headers(list []*stream, pins []*pin) {
	for _, s := range list {
		all := strings.Split(strings.Trim(s.prefix, "_"), "_")
		if len(s.members) > 0 || len(all) < 2 || !slices.Contains(headerWords, all[len(all)-1]) {
			continue
		}
		first := all[0] + "_"
		name := s.prefix
		for _, p := range pins {
			if p.used || p.Array != "" || p.Dir != s.dir || !strings.HasPrefix(p.lower, first) ||
				!strings.HasSuffix(p.lower, s.suffix) || p.Width%s.lanes != 0 {
				continue
			}
			if slices.ContainsFunc(list, func(o *stream) bool { return o != s && o.dir == s.dir && closer(o, s, p) }) {
				continue
			}
			p.used = true
			s.members = append(s.members,
				member{pin: p, role: strings.TrimSuffix(strings.TrimPrefix(p.lower, first), s.suffix)})
			s.prefix, s.title = first, strings.Trim(name, "_")
			s.note = "fields: what begins with " + first + " and has no handshake of its own"
		}
	}
}

// closer reports whether another header's name has more in common with a pin.
func closer(other, s *stream, p *pin) bool {
	all := strings.Split(strings.Trim(other.prefix, "_"), "_")
	return len(other.members) == 0 && slices.Contains(headerWords, all[len(all)-1]) &&
		common(other.prefix, p.lower) > common(s.prefix, p.lower)
}

// common is the number of letters with which two names begin alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
