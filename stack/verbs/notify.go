package verbs

// Notifier decides which completion raises the event requested by ReqNotify (IBTA 11.4.2.2). The zero value has no
// request.
type Notifier struct{ armed arming }

// arming says which completions raise the requested event.
type arming uint8

const (
	unarmed arming = iota
	forSolicited
	forAny
)

// Request requests one event. A request for any completion replaces one for a solicited one, but not the reverse.
func (n *Notifier) Request(solicitedOnly bool) {
	if !solicitedOnly {
		n.armed = forAny
	} else if n.armed == unarmed {
		n.armed = forSolicited
	}
}

// Added reports whether a new completion raises the requested event. solicited: the sender of the received message
// asked for an event. A completion in error counts as solicited.
func (n *Notifier) Added(wc *WC, solicited bool) bool {
	if n.armed == unarmed || n.armed == forSolicited && !solicited && wc.Status == WCSuccess {
		return false
	}
	n.armed = unarmed
	return true
}

// Completions is a bounded queue of completions. NewCompletions creates one.
type Completions struct {
	wcs     []WC
	head, n int
	overrun bool
}

// NewCompletions returns an empty queue of n completions.
func NewCompletions(n int) *Completions { return &Completions{wcs: make([]WC, n)} }

// Entries returns the capacity.
func (c *Completions) Entries() int { return len(c.wcs) }

// Add adds a completion. It returns false if there is no room: the queue has then overrun, and accepts no more.
func (c *Completions) Add(wc *WC) bool {
	if c.overrun || c.n == len(c.wcs) {
		c.overrun = true
		return false
	}
	c.wcs[(c.head+c.n)%len(c.wcs)] = *wc
	c.n++
	return true
}

// Poll implements CQ.Poll.
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

// Drop removes the completions of a queue pair, for when it is destroyed or reset.
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
