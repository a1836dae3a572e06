package kind

// lookup is the common part of the kinds that look something up in the server's memory.
type lookup struct{ by By }

func (l lookup) Traits() Traits {
	if l.by == ByReads {
		return Traits{Pattern: Lookups, Lookup: true}
	}
	return Traits{Served: true, Lookup: true}
}

func (lookup) Transports() []Transport { return []Transport{RC} }

func (l lookup) Options() []Option {
	if l.by == ByReads {
		return []Option{Access}
	}
	return []Option{Inline, Misuse}
}

func (l lookup) lacks(o Option) (why, want string) {
	if why, want = (plain{}).lacks(o); l.by == ByReads && (o == Inline || o == Reused || o == Misuse) {
		why = "makes READs by itself"
	}
	return why, want
}

func (l lookup) check(name Name, f *Fields, bad *Faults) {
	if l.by == ByReads {
		ownRequests(string(name)+" makes READs", f, bad)
	}
}

// ownRequests rejects options that a kind does not take because it makes its requests by itself.
func ownRequests(what string, f *Fields, bad *Faults) {
	for _, x := range []struct {
		set  bool
		name Option
		want string
	}{
		{f.Pieces != 1, "pieces", "1"}, {f.Batch != 1, "batch", "1"}, {f.SignalEvery != 1, "signal_every", "1"},
		{f.Receives != 0, "receives", "0"},
	} {
		bad.Check(!x.set, x.name, ": kind %s by itself: want %s", what, x.want)
	}
}
