package pcielink

import (
	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
)

// account holds a transmitter's remaining credits, by class.
type account struct {
	class [3]struct {
		headers, data     int
		noHeaders, noData bool // the receiver advertised infinite header or data credits
	}
}

// grant holds the credits of one TLP on their way back to the transmitter, which may use them from time `at` on.
type grant struct {
	at    simcore.Ps
	class tlp.Class
	data  int
}

func newAccount(c *Credits) (a account) {
	for i, n := range [...][2]int{
		tlp.Posted:     {c.PostedHeaders, c.PostedData},
		tlp.NonPosted:  {c.NonPostedHeaders, c.NonPostedData},
		tlp.Completion: {c.CompletionHeaders, c.CompletionData},
	} {
		x := &a.class[i]
		x.headers, x.data, x.noHeaders, x.noData = n[0], n[1], n[0] == 0, n[1] == 0
	}
	return a
}

// finite reports whether credits of a class are counted.
func (a *account) finite(c tlp.Class) bool { return !(a.class[c].noHeaders && a.class[c].noData) }

// take takes the credits for a TLP, one header and its data. It reports whether there were enough.
func (a *account) take(c tlp.Class, h *tlp.Header) bool {
	x, data := &a.class[c], h.DataCredits()
	if !x.noHeaders && x.headers == 0 || !x.noData && x.data < data {
		return false
	}
	x.headers--
	x.data -= data
	return true
}

func (a *account) put(g grant) {
	a.class[g.class].headers++
	a.class[g.class].data += g.data
}
