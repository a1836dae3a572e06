package capture

import "time"

// Origin is where a frame was captured. The zero value is that of frames which are in no file.
type Origin struct {
	File   string // its path
	Packet int    // in the file, from 1, as Wireshark counts
	Time   time.Time
}

// Origin is where a packet of the file was captured.
func (f *File) Origin(p *Packet) Origin { return Origin{f.Path, p.Number, p.Time} }
