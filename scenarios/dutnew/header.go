package dutnew

import (
	"slices"
	"strings"
)

// headerWords are suffixes of handshake names whose fields are named without them: s_ip_hdr_valid beside s_ip_length
// and s_eth_type.
var headerWords = []string{"hdr", "header", "meta", "metadata"}

// headers assigns fields to header records that found none by their own names: pins of their direction with the same
// beginning.
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

// closer reports whether a pin shares a longer prefix with the other header's name than with that of s.
func closer(other, s *stream, p *pin) bool {
	all := strings.Split(strings.Trim(other.prefix, "_"), "_")
	return len(other.members) == 0 && slices.Contains(headerWords, all[len(all)-1]) &&
		common(other.prefix, p.lower) > common(s.prefix, p.lower)
}

// common returns the length of the common prefix of two names.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
