package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/observe/wiretap"
	"nictwin/scenarios/play"
)

// details holds the data for the template of a finding's body.
type details struct {
	*found
	Diff   *Diff // nil: the finding has no values
	Entry  string
	Fields []Field
	Rest   string // the finding's text without Fields
	Ladder bool
	Links  []Link
}

// Link is a file beside the page.
type Link struct {
	Name string
	Href string
	What string
	Size int64
}

// fileKinds describes the files in a folder of artifacts that a page links to.
var fileKinds = []struct{ name, what string }{
	{result.Bundle, "the failing input, to be played anywhere: nictwin bundle show prints it"},
	{result.ShrunkCapture, "the packets that a failing replay needs"},
	{result.ShrunkScenario, "the smallest scenario that fails"},
	{judge.PcapngFile, "frames, expected and actual, for Wireshark"},
	{judge.EventsFile, "every crossing of the NIC's boundary"},
	{wiretap.File, "packets on the cables"},
	{result.TransactionsFile, "transactions of the failing run"},
	{play.FSTFile, "waveform"}, {play.SaveFile, "view of the waveform for GTKWave"},
	{result.Summary, "all results, for scripts"}, {result.JUnit, "results for CI systems"},
}

// details returns what the page says of a finding.
func (v *pageView) details(f *found, ladder bool) *details {
	d := &details{found: f, Ladder: ladder}
	if f.Expected != "" || f.Got != "" {
		d.Diff = diff(f.Expected, f.Got)
	}
	d.Entry, d.Fields, d.Rest = entryFields(f.Text)
	dir := f.Run.path(f.index, ".")
	top := f.Run.Folders[f.Run.folderOf[f.index]]
	for _, x := range []struct{ dir, name, what string }{
		{top, result.Bundle, "failing input"}, {dir, judge.PcapngFile, "frames"}, {dir, judge.EventsFile, "events"},
		{dir, wiretap.File, "cables"}, {top, result.TransactionsFile, "transactions"},
	} {
		d.Links = v.link(d.Links, x.dir, x.name, x.what)
	}
	for i := range f.Run.Object.Waves {
		d.Links = v.link(d.Links, top, beside(f.Run.Object, f.Run.Object.Waves[i].FST), "waveform")
	}
	if p := f.Program; p != nil && p.File != "" {
		d.Links = v.link(d.Links, top, filepath.Base(p.File), "program")
	}
	return d
}

// link adds a link to a regular file, if it is there.
func (v *pageView) link(list []Link, dir, name, what string) []Link {
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return list
	}
	if href := link(v.dir, path); href != "" {
		list = append(list, Link{Name: name, Href: href, What: what, Size: info.Size()})
	}
	return list
}

// beside returns the path of an artifact relative to the folder of artifacts, which may have been moved since the run.
// Waveforms of command `run` lie in the subfolders of their cases.
func beside(o *result.Object, path string) string {
	if name, err := filepath.Rel(o.Artifacts, path); err == nil && filepath.IsLocal(name) {
		return name
	}
	return filepath.Base(path)
}

// Files returns the files of a run's folders.
func (v *pageView) Files(r *Run) (list []Link) {
	for i, dir := range r.Folders {
		for _, k := range fileKinds {
			list = v.link(list, dir, k.name, k.what)
		}
		if i > 0 {
			continue
		}
		for k := range r.Object.Waves {
			w := &r.Object.Waves[k]
			if name := beside(r.Object, w.FST); name != play.FSTFile { // fileKinds has linked a file of that name
				list = v.link(list, dir, name, "waveform")
				list = v.link(list, dir, beside(r.Object, w.SaveFile), "view of the waveform for GTKWave")
			}
		}
	}
	return list
}

// place says where a finding showed: NIC, queue, entry, port, cycle and so on.
func place(f *result.Finding) string {
	var list []string
	add := func(ok bool, format string, a ...any) {
		if ok {
			list = append(list, fmt.Sprintf(format, a...))
		}
	}
	add(f.Scenario != "", "case %s", f.Scenario)
	add(f.NIC != "", "NIC %s", f.NIC)
	if f.Block != nil {
		add(true, "block %s, transaction %d", f.Block.Name, f.Block.Transaction)
	}
	if f.Program != nil {
		add(true, "program %d", f.Program.Number)
	}
	add(f.Stream != "", "stream %s", f.Stream)
	if f.Queue != nil {
		kind := "txq"
		if f.Domain == result.Rx || f.Domain == result.Accounts {
			kind = "rxq"
		}
		add(true, "%s %d", kind, *f.Queue)
	}
	if f.Index != nil {
		add(true, "entry %d", *f.Index)
	}
	if f.Port != nil && f.Queue == nil {
		add(true, "port %d", *f.Port)
	}
	if f.Cycle != nil {
		add(true, "cycle %d", *f.Cycle)
	}
	if x := f.Frame; x != nil && x.Capture != "" {
		add(true, "packet %d of %s", x.Packet, filepath.Base(x.Capture))
	}
	if len(list) == 0 {
		add(true, "%s", f.Domain)
	}
	return strings.Join(list, ", ")
}
