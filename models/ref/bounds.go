package ref

// MaxDelay is the longest delay that Give and Answer accept, in cycles.
const MaxDelay = 1 << 20

// Bound limits how many transactions the reference may draw, give and expect in a run, all together; each call of Job
// counts as one. 0: no limit.
func (p *Player) Bound(n int) { p.most = n }

// count counts a transaction or a job against the limit.
func (p *Player) count() {
	p.made++
	if p.most > 0 && p.made > p.most {
		mistake("it drew, gave and expected more than %d transactions in a run, the limit (--ref-count)", p.most)
	}
}

// fit checks that a stream can carry the data of a transaction.
func (s *Stream) fit(data []byte) {
	switch {
	case s.Kind != Packets && len(data) > 0:
		mistake("stream %s has only fields: want no data, got %d bytes", s.Name, len(data))
	case s.Kind == Packets && len(data) == 0 && !s.Empty:
		mistake("stream %s: a packet needs data", s.Name)
	case s.Kind == Packets && len(data)%max(1, s.Unit) != 0:
		mistake("stream %s: %d bytes of data: want a multiple of %d", s.Name, len(data), s.Unit)
	case s.Most > 0 && len(data) > s.Most:
		mistake("stream %s: %d bytes of data: want at most %d", s.Name, len(data), s.Most)
	}
}

// checkFunc reports a nil function, passed to the named method, as a mistake.
func checkFunc(ok bool, call, stream string) {
	switch {
	case ok:
	case stream == "":
		mistake("%s: the function is nil", call)
	default:
		mistake("%s of stream %s: the function is nil", call, stream)
	}
}
