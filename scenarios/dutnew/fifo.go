package dutnew

import (
	"slices"
	"strings"

	"nictwin/rtlbridge/manifest"

	"nictwin/rtlbridge/protocol"
)

// fifoSide lists the usual names of the pins on one side of a FIFO: the enable, the flag that forbids it (full or
// empty), and the data.
type fifoSide struct {
	dir                string
	enable, flag, data []string
	clock              string // prefix of the name of this side's clock, in a FIFO with two clocks
}

var fifoSides = []fifoSide{
	{
		dir: manifest.DirIn,
		enable: []string{"wr_en", "wren", "w_en", "wen", "wr", "we", "write", "write_en", "write_enable", "push", "enq",
			"winc", "wrreq", "wr_req", "put"},
		flag: []string{"full", "wfull", "wr_full", "w_full", "wrfull", "fifo_full"},
		data: []string{"wr_data", "wdata", "w_data", "wrdata", "write_data", "wr_din", "din", "data", "data_in",
			"datain", "push_data", "d"},
		clock: "w",
	},
	{
		dir: manifest.DirOut,
		enable: []string{"rd_en", "rden", "r_en", "ren", "rd", "re", "read", "read_en", "read_enable", "pop", "deq",
			"rinc", "rdreq", "rd_req", "get"},
		flag: []string{"empty", "rempty", "rd_empty", "r_empty", "rdempty", "fifo_empty"},
		data: []string{"rd_data", "rdata", "r_data", "rddata", "read_data", "rd_dout", "dout", "data", "data_out",
			"dataout", "pop_data", "q"},
		clock: "r",
	},
}

// fifos recognises both sides of a FIFO whose handshake is an enable and a flag: wr_en and full, rd_en and empty.
func (f *found) fifos() {
	for i := range fifoSides {
		x := &fifoSides[i]
		enable, data := f.called(manifest.DirIn, 1, x.enable), f.called(x.dir, 0, x.data)
		flag := f.called(manifest.DirOut, 1, x.flag)
		if enable == nil || flag == nil || data == nil {
			continue
		}
		s := &stream{kind: protocol.KindRecord, dir: x.dir, lanes: 1, clockLetter: x.clock,
			members: []member{{pin: data, role: "data"}}}
		s.valid, s.ready, s.readyLow = enable, flag, true
		s.note = enable.Name + " may be high while " + flag.Name + " is, and is then ignored"
		if x.dir == manifest.DirOut {
			s.valid, s.ready, s.readyLow, s.validLow, s.late = flag, enable, false, true, true
			s.note = data.Name + " is valid in the cycle after " + enable.Name + "; without fields_late: beside " +
				flag.Name + " (first word falls through)"
		}
		for _, p := range []*pin{enable, flag, data} {
			p.used = true
		}
		s.name = f.unique(s)
		f.streams = append(f.streams, s)
	}
}

// called finds a pin, not assigned yet, by one of the names; earlier names take precedence, and a prefix or suffix for
// the direction is ignored. Width 0 accepts any width.
func (f *found) called(dir string, width int, names []string) *pin {
	for _, name := range names {
		for _, p := range f.pins {
			if !p.used && p.Dir == dir && p.Array == "" && (width == 0 || p.Width == width) &&
				slices.Contains(bare(p.lower), name) {
				return p
			}
		}
	}
	return nil
}

// bare returns the names that remain without a direction's prefix or suffix: data for i_data and for data_i.
func bare(name string) []string {
	list := []string{name, strings.TrimPrefix(strings.TrimPrefix(name, "i_"), "o_")}
	for _, d := range directions[1:] {
		list = append(list, strings.TrimSuffix(name, d))
	}
	return list
}

// clockOfSide returns the clock of one side of a FIFO: the one whose name has a word that begins with the side's letter
// (w or r). It returns an empty signal if that is the first clock, which the manifest need not name, or if none matches
// (guessed).
func (f *found) clockOfSide(s *stream) (signal string, guessed bool) {
	for i, c := range f.clocks {
		for _, w := range words(c.pin.Name) {
			if strings.HasPrefix(w, s.clockLetter) {
				if i == 0 {
					return "", false
				}
				return c.pin.Name, false
			}
		}
	}
	return "", true
}
