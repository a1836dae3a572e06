package transport

import (
	"sort"

	"nictwin/models/format/wire"
	"nictwin/stack/transport/seq"
)

// credits are the credit counts that the codes of an ACK's syndrome encode (IBTA 9.7.7.2.1, table 46).
var credits = [...]int{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048,
	3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768}

// creditSyndrome returns the ACK syndrome that advertises at most n receive requests.
func creditSyndrome(n int) wire.Syndrome {
	i := sort.SearchInts(credits[:], n+1) - 1
	return wire.Syndrome(i)
}

// credit tracks the receive requests that the peer has advertised.
type credit struct {
	known bool
	limit uint32 // one past the last message for which the peer has a receive request
	sent  uint32 // number of messages begun
}

func (k *credit) update(h wire.AETHFields) {
	if h.Syndrome.Kind() != wire.SyndromeACK {
		return
	}
	if h.Syndrome == wire.ACKNoCredits {
		k.known = false
		return
	}
	k.known, k.limit = true, seq.Add(h.MSN, uint32(credits[h.Syndrome.Value()]))
}

// creditFor reports whether the packet at nxt may leave. A packet that begins a message beyond the peer's credits may
// leave only when nothing else is in flight: it probes for new credits (IBTA 9.7.7.2.5).
func (c *rc) creditFor(r *request, resent bool) bool {
	if resent || c.nxt != r.first {
		return true
	}
	number := seq.Add(c.credit.sent, 1)
	takes := r.Op.IsSend() || r.Op.HasImm()
	if c.spec.Credits && c.credit.known && takes && seq.Diff(number, c.credit.limit) > 0 && c.una != c.top {
		return false
	}
	return true
}
