package dutnew

import (
	"slices"
	"strings"
)

// headerWords are suffixes of a stream's name that its fields lack: the fields of s_ip_hdr_valid are called s_ip_length
// and s_eth_type.
var headerWords = []string{"hdr", "header", "meta", "metadata"}

// headers finds the fields of header records that have none yet: the free pins of the record's direction whose names
// begin with the record's first word, such as s_ip_length for s_ip_hdr_valid.
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

// closer reports whether other is also a header record without fields, and has a longer prefix in common with the pin
// than s.
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
