package bundle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"nictwin/scenarios/observe/result"
)

// played reports whether playing the bundle reads this entry of its archive.
func played(entry string) bool { return entry == InfoFile || inputForm().MatchString(entry) }

// remark adds a remark about a file in the bundle that is not needed to play it.
func (b *Bundle) remark(entry string, err error) {
	b.Remarks = append(b.Remarks, fmt.Sprintf("entry %q: %v; nothing is played from it", cut(entry), err))
}

// inspect adds remarks about a summary and waveforms that no run of the bundle can have left.
func (b *Bundle) inspect() {
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		var err error
		switch {
		case name == SummaryFile:
			err = b.checkSummary(b.Files[name])
		case waveForm().MatchString(name):
			err = checkWave(b.Files[name])
		}
		if err != nil {
			b.remark(name, err)
		}
	}
}

// checkSummary returns an error unless a text is the summary of the run that left the bundle. That of another version
// of nictwin is not read further.
func (b *Bundle) checkSummary(text []byte) error {
	if err := result.IsSummary(text); err != nil {
		return err
	}
	o, err := result.ParseSummary(text)
	switch other := (*result.SchemaError)(nil); {
	case errors.As(err, &other):
		return nil
	case err != nil:
		return err
	case o.Command != b.Info.Command:
		return fmt.Errorf("command %q: want %s, as in %s", o.Command, b.Info.Command, InfoFile)
	case o.Result != b.Info.Result:
		return fmt.Errorf("result %q: want %s, as in %s", o.Result, b.Info.Result, InfoFile)
	}
	return nil
}

// Parts of an FST file: each block has a byte for its type and eight for its length, which includes these eight.
const (
	fstHead       = 9
	fstHeader     = 0 // type of the first block
	fstHeaderSize = 329
	fstHierarchy  = 6 // type of the block with the names of the signals, which is written last
)

// checkWave returns an error unless a text consists of the blocks of an FST file, from its header to its hierarchy.
func checkWave(text []byte) error {
	hierarchy := false
	for at := 0; at < len(text); {
		left := text[at:]
		if len(left) < fstHead {
			return fmt.Errorf("is cut off: %d bytes after the last block", len(left))
		}
		kind, size := left[0], binary.BigEndian.Uint64(left[1:])
		switch {
		case at == 0 && (kind != fstHeader || size != fstHeaderSize):
			return errors.New("is no waveform: want an FST file")
		case size < fstHead-1 || size > uint64(len(left)-1):
			return fmt.Errorf("is cut off or damaged: a block of %d bytes at byte %d, %d are left", size, at,
				len(left)-1)
		}
		hierarchy = hierarchy || kind == fstHierarchy
		at += 1 + int(size)
	}
	switch {
	case len(text) == 0:
		return errors.New("is empty: want an FST file")
	case !hierarchy:
		return errors.New("is cut off: the names of its signals are missing")
	}
	return nil
}
