package judge

import (
	"cmp"
	"errors"
	"fmt"

	"nictwin/golden/verdict"

	"nictwin/golden/trace"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/shell/files"
)

// Names of the files of a log.
const (
	EventsFile = "events.jsonl"
	PcapngFile = "frames.pcapng"
)

// Log holds the open files of a run: every crossing of its NICs, and every frame that was compared.
type Log struct {
	dir    *files.Folder
	events *trace.Log
	png    *trace.Pcapng
	nics   []*frameLog
	room   int64 // bytes of frames.pcapng reserved for comments that Close adds
	close  []func() error
}

// NewLog creates the files in a folder, each of at most limit bytes; 0 is no limit. names are those of the NICs to be
// attached later; without names, a single unnamed NIC is attached.
func NewLog(dir *files.Folder, limit int64, names ...string) (*Log, error) {
	if len(names) == 0 {
		names = []string{""}
	}
	l := &Log{dir: dir}
	ev, err := dir.Create(EventsFile)
	if err != nil {
		return nil, err
	}
	png, err := dir.Create(PcapngFile)
	if err != nil {
		return nil, errors.Join(err, ev.Close())
	}
	l.events = trace.NewLog(ev, limit)
	l.room = commentRoomFree
	if limit > 0 {
		l.room = min(commentRoom, limit/commentShare)
		limit -= l.room
	}
	l.png = trace.NewPcapng(png, limit, names...)
	for i, name := range names {
		l.nics = append(l.nics, newFrameLog(name, l.png, 2*i))
	}
	l.close = []func() error{l.events.Close, l.png.Close, l.annotate, ev.Close, png.Close}
	return l, nil
}

// add returns the writers for a NIC's crossings and frames. It panics if NewLog was not given the name.
func (l *Log) add(name string, period simcore.Ps, comment func(*verdict.Mismatch) string) (*trace.Events, *frameLog) {
	for _, f := range l.nics {
		if f.name == name {
			f.period, f.text = cmp.Or(period, simcore.DefaultPeriodPs), comment
			return l.events.Of(name), f
		}
	}
	panic(fmt.Sprintf("judge: the log has no NIC %q", name))
}

// Cuts returns the files that reached the limit.
func (l *Log) Cuts() (cuts []Cut) {
	for _, c := range []Cut{{EventsFile, l.events.Cut()}, {PcapngFile, l.png.Cut()}} {
		if c.LeftOut > 0 {
			cuts = append(cuts, c)
		}
	}
	return cuts
}

// Close closes the files and adds the late comments. It may be called again.
func (l *Log) Close() error {
	var errs []error
	for _, f := range l.close {
		errs = append(errs, f())
	}
	l.close = nil
	return errors.Join(errs...)
}

// annotate adds comments to the finished frames.pcapng: afterwards it is either unchanged or has every comment that
// fits.
func (l *Log) annotate() (err error) {
	late := map[trace.PacketID][]string{}
	for _, f := range l.nics {
		for id, texts := range f.late {
			late[id] = texts
		}
	}
	if len(late) == 0 {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("comments in %s: %w", PcapngFile, err)
		}
	}()
	in, err := l.dir.Open(PcapngFile)
	if err != nil {
		return err
	}
	defer in.Close()
	const unfinished = PcapngFile + files.Unfinished
	out, err := l.dir.Create(unfinished)
	if err != nil {
		return err
	}
	_, err = trace.Annotate(out, in, late, l.room)
	if err = errors.Join(err, out.Close()); err == nil {
		err = l.dir.Rename(unfinished, PcapngFile)
	}
	if err != nil {
		return errors.Join(err, l.dir.Remove(unfinished))
	}
	return nil
}
