package junit

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"nictwin/scenarios/observe/result"
)

// maxFindings bounds the findings of a case whose text is written; summary.json has all of them.
const maxFindings = 20

// Unfinished returns the document for the begin of a run: an error, which remains in the file if the run never ends.
func Unfinished(command, again string, seed uint64) *Suites {
	s := suite(command, again, seed)
	s.Cases = []*Case{{Name: command, Class: command, Properties: seeded(seed, again),
		Error: &Fault{Message: "did not finish", Type: "unfinished",
			Text: clean("The run began and left no result: it was killed, or the machine stopped.\nreproduce: " +
				again)}}}
	return &Suites{Name: "nictwin", Suites: []*Suite{s}}
}

// Of returns the document of a run that has ended. Attachments are files beside junit.xml.
func Of(o *result.Object, again string, attachments []string) *Suites {
	s := suite(o.Command, cmp.Or(o.Reproduce, again), o.Seed)
	s.Time = seconds(o.WallS)
	p := s.Properties
	p.add("result", o.Result)
	p.add("failure", string(o.Failure))
	p.add("digest", o.Digest)
	p.add("build", o.Build)
	p.add("revision", o.Revision)
	p.add("nic", o.NIC)
	p.add("checked", strconv.FormatUint(o.Checked, 10))
	b := &cases{o: o, suite: s, again: cmp.Or(o.Reproduce, again), byName: map[string]*Case{}}
	b.whole()
	b.parts()
	for i := range o.Findings {
		b.find(&o.Findings[i])
	}
	b.attach(attachments)
	for _, c := range s.Cases {
		c.finish()
	}
	return &Suites{Name: "nictwin", Time: s.Time, Suites: []*Suite{s}}
}

func suite(command, again string, seed uint64) *Suite {
	return &Suite{Name: "nictwin " + command, Properties: seeded(seed, again)}
}

func seeded(seed uint64, again string) *properties {
	p := &properties{}
	p.add("seed", strconv.FormatUint(seed, 10))
	p.add("command", again)
	return p
}

// cases collects the cases of a run.
type cases struct {
	o      *result.Object
	suite  *Suite
	again  string
	byName map[string]*Case
	run    *Case // case of errors and findings that belong to no other case
}

// add returns the case of this name and class, and creates it at the first call.
func (b *cases) add(name, class string) *Case {
	key := class + "\x00" + name
	if c := b.byName[key]; c != nil {
		return c
	}
	c := &Case{Name: clean(name), Class: clean(class), Properties: &properties{}}
	b.byName[key] = c
	b.suite.Cases = append(b.suite.Cases, c)
	return c
}

// whole adds the case of the run itself. If the run ended without a verdict, the case has its error.
func (b *cases) whole() {
	o := b.o
	b.run = b.add(o.Command, o.Command)
	b.run.Time = seconds(o.WallS)
	b.run.Properties.List = append(b.run.Properties.List, b.suite.Properties.List...)
	if o.Result == result.Pass.String() || o.Result == result.Mismatch.String() {
		return
	}
	b.run.Error = &Fault{Message: line(cmp.Or(o.Error, o.Result)), Type: cmp.Or(string(o.Failure), o.Result),
		Text: clean(o.Error + "\nreproduce: " + b.again)}
}

// parts adds a case for each capture, scenario, block and server of the run, whether it failed or not.
func (b *cases) parts() {
	for _, file := range b.o.Captures {
		b.add(filepath.Base(file), b.class())
	}
	for i := range b.o.Scenarios {
		b.scenario(&b.o.Scenarios[i])
	}
	for i := range b.o.Blocks {
		x := &b.o.Blocks[i]
		c := b.add(x.Name, b.o.Command)
		c.Properties.add("build", x.Build)
		c.Properties.add("compared", strconv.Itoa(x.Compared))
	}
	for i := range b.o.Servers {
		b.add(b.o.Servers[i].Name, b.o.Command).Properties.add("digest", b.o.Servers[i].Digest)
	}
}

// class returns the class of captures and programs: command, NIC and direction. It distinguishes runs of the same
// captures.
func (b *cases) class() string {
	return strings.Join(nonEmpty(b.o.Command, b.o.NIC, b.o.Dir), ".")
}

func nonEmpty(list ...string) (rest []string) {
	for _, s := range list {
		if s != "" {
			rest = append(rest, s)
		}
	}
	return rest
}

func (b *cases) scenario(x *result.ScenarioPlayed) {
	c := b.add(x.Name, scenarioClass(b.o.Command, x.NIC))
	c.Properties.add("seed", strconv.FormatUint(x.Seed, 10))
	c.Properties.add("file", x.File)
	c.Properties.add("digest", x.Digest)
	c.Properties.add("sim_ps", strconv.FormatInt(x.SimPs, 10))
	if s := x.Stats; s != nil {
		c.Properties.add("goodput_gbps", strconv.FormatFloat(s.Total.Gbps, 'g', 6, 64))
		c.Properties.add("messages_per_s", strconv.FormatFloat(s.Total.PerSecond, 'g', 6, 64))
		c.Properties.add("converged", strconv.FormatBool(s.Total.Converged))
	}
	if x.Result != result.Pass.String() && x.Result != result.Mismatch.String() {
		c.Error = &Fault{Message: x.Result, Type: x.Result}
	} else if x.Result == result.Mismatch.String() {
		c.Failure = &Fault{Type: x.Result}
	}
}

func scenarioClass(command, nic string) string { return strings.Join(nonEmpty(command, nic), ".") }

// find puts a finding into the case to which it belongs.
func (b *cases) find(f *result.Finding) {
	c := b.owner(f)
	if c.Failure == nil {
		c.Failure = &Fault{}
	}
	if c.Failure.Message == "" {
		c.Failure.Message, c.Failure.Type = line(f.Text), clean(cmp.Or(f.Rule, string(f.Domain)))
		if f.Cycle != nil {
			c.Properties.add("cycle", strconv.FormatInt(*f.Cycle, 10))
		}
		c.Properties.add("files", strings.Join(f.Files, ", "))
		if c != b.run {
			c.Properties.add("command", cmp.Or(f.Command, b.again))
		}
	}
	if f.Failure != "" {
		c.Failure.Type = string(f.Failure)
	}
	c.findings++
	if c.findings <= maxFindings {
		c.Failure.Text += clean(f.Text+"\nreproduce: "+cmp.Or(f.Command, b.again)) + "\n"
	}
}

// owner returns the case of a finding.
func (b *cases) owner(f *result.Finding) *Case {
	switch {
	case f.Scenario != "":
		for i := range b.o.Scenarios {
			if x := &b.o.Scenarios[i]; x.Name == f.Scenario && x.Result != result.Pass.String() {
				return b.add(x.Name, scenarioClass(b.o.Command, x.NIC))
			}
		}
		return b.add(f.Scenario, b.o.Command)
	case f.Block != nil:
		return b.add(f.Block.Name, b.o.Command)
	case f.Program != nil:
		return b.add(fmt.Sprintf("program %d of seed %d", f.Program.Number, b.o.Seed), b.class())
	case f.Frame != nil && f.Frame.Capture != "":
		return b.add(filepath.Base(f.Frame.Capture), b.class())
	}
	return b.run
}

// attach names the files of the run in every case with a fault, in the notation that Jenkins and GitLab read.
func (b *cases) attach(files []string) {
	if len(files) == 0 {
		return
	}
	var out strings.Builder
	for _, f := range files {
		fmt.Fprintf(&out, "[[ATTACHMENT|%s]]\n", clean(f))
	}
	for _, c := range b.suite.Cases {
		if c.Failure == nil && c.Error == nil {
			continue
		}
		for _, f := range files {
			c.Properties.add("attachment", f)
		}
		c.Out = &text{out.String()}
	}
}
