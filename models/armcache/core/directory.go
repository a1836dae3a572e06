package core

// runLines is how many consecutive lines a run has: 64 KB of memory.
const runLines = 1 << 10

// run says for consecutive lines in which way of its set each is, plus one; 0: it is not in the cache.
type run [runLines]uint8

// directory finds lines by their number. Real caches compare the tags of a set; here the lines of a transfer, which are in as
// many sets, are found side by side.
type directory struct {
	runs   map[uint64]*run
	latest *run // that was looked at, and its number
	number uint64
}

// of is the run of a line, nil if none of its lines was ever in the cache.
func (d *directory) of(line uint64) *run {
	number := line / runLines
	if d.latest == nil || d.number != number {
		r := d.runs[number]
		if r == nil {
			return nil
		}
		d.latest, d.number = r, number
	}
	return d.latest
}

// way is the way of its set that a line is in.
func (d *directory) way(line uint64) (way int, ok bool) {
	r := d.of(line)
	if r == nil || r[line%runLines] == 0 {
		return 0, false
	}
	return int(r[line%runLines]) - 1, true
}

// put notes the way that a line is in.
func (d *directory) put(line uint64, way int) {
	r := d.of(line)
	if r == nil {
		r = new(run)
		d.runs[line/runLines] = r
	}
	r[line%runLines] = uint8(way + 1)
}

// forget notes that a line is no longer in the cache.
func (d *directory) forget(line uint64) { d.runs[line/runLines][line%runLines] = 0 }
