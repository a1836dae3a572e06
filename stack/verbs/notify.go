package verbs

// Notifier decides which completion raises the event that ReqNotify asked for (IBTA 11.4.2.2). The zero value waits for
// nothing.
type Notifier struct{ armed arming }

type arming uint8

const (
	unarmed arming = iota
	forSolicited
	forAny
)

// Request asks for one event. Asking for any completion replaces asking for a solicited one; not the reverse.
func (n *Notifier) Request(solicitedOnly bool) {
	if !solicitedOnly {
		n.armed = forAny
	} else if n.armed == unarmed {
		n.armed = forSolicited
	}
}

// Added tells of a completion that was added, and reports whether it raises the event. solicited: it is a receive whose
// sender asked for an event. Completions in error always count.
func (n *Notifier) Added(wc *WC, solicited bool) bool {
	if n.armed == unarmed || n.armed == forSolicited && !solicited && wc.Status == WCSuccess {
		return false
	}
	n.armed = unarmed
	return true
}

// Completions is a completion queue's content, of a fixed size. It is made by NewCompletions.
type Completions struct {
	wcs     []WC
	head, n int
	overrun bool
}

// NewCompletions returns room for n completions.
func NewCompletions(n int) *Completions { return &Completions{wcs: make([]WC, n)} }

// Entries is how many completions there is room for.
func (c *Completions) Entries() int { return len(c.wcs) }

// Add adds a completion; false if there was no room for it: the queue has overrun, and takes none from then on.
func (c *Completions) Add(wc *WC) bool {
	if c.overrun || c.n == len(c.wcs) {
		c.overrun = true
		return false
	}
	c.wcs[(c.head+c.n)%len(c.wcs)] = *wc
	c.n++
	return true
}

// Poll is that of CQ.
func (c *Completions) Poll(wcs []WC) (int, error) {
	n := min(c.n, len(wcs))
	for i := range n {
		wcs[i] = c.wcs[c.head]
		if c.head++; c.head == len(c.wcs) {
			c.head = 0
		}
	}
	c.n -= n
	if n == 0 && c.n == 0 && c.overrun {
		return 0, ErrOverrun
	}
	return n, nil
}

// Drop removes the completions of a queue pair, as happens when it is destroyed or reset.
func (c *Completions) Drop(qpn uint32) {
	kept := 0
	for i := range c.n {
		wc := c.wcs[(c.head+i)%len(c.wcs)]
		if wc.QPN != qpn {
			c.wcs[(c.head+kept)%len(c.wcs)] = wc
			kept++
		}
	}
	c.n = kept
}
