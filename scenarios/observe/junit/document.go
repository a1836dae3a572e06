package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Suites is the document: one run.
type Suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Time     seconds  `xml:"time,attr"`
	Suites   []*Suite `xml:"testsuite"`
}

// Suite is one command with its cases.
type Suite struct {
	Name       string      `xml:"name,attr"`
	Tests      int         `xml:"tests,attr"`
	Failures   int         `xml:"failures,attr"`
	Errors     int         `xml:"errors,attr"`
	Skipped    int         `xml:"skipped,attr"`
	Time       seconds     `xml:"time,attr"`
	Properties *properties `xml:"properties,omitempty"`
	Cases      []*Case     `xml:"testcase"`
}

// Case is one scenario, capture, block or program.
type Case struct {
	Name       string      `xml:"name,attr"`
	Class      string      `xml:"classname,attr"` // command, with NIC and direction where cases need them
	Time       seconds     `xml:"time,attr"`
	Properties *properties `xml:"properties,omitempty"`
	Failure    *Fault      `xml:"failure,omitempty"`
	Error      *Fault      `xml:"error,omitempty"`
	Out        *text       `xml:"system-out,omitempty"`

	findings int
}

// finish completes a case: it adds how many findings were left out, and removes an empty list of properties.
func (c *Case) finish() {
	if n := c.findings - maxFindings; n > 0 {
		c.Failure.Text += fmt.Sprintf("and %d more findings, in summary.json\n", n)
	}
	if c.Failure != nil && c.Failure.Message == "" {
		c.Failure.Message = "failed, see the findings of the run"
	}
	if len(c.Properties.List) == 0 {
		c.Properties = nil
	}
}

// Fault tells why a case failed.
type Fault struct {
	Message string `xml:"message,attr"` // one line
	Type    string `xml:"type,attr"`    // rule of the contract, or the outcome
	Text    string `xml:",chardata"`
}

type text struct {
	Text string `xml:",chardata"`
}

type properties struct {
	List []property `xml:"property"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// add appends a property unless its value is empty.
func (p *properties) add(name, value string) {
	if value != "" {
		p.List = append(p.List, property{name, clean(value)})
	}
}

// seconds is a duration as JUnit XML writes it.
type seconds float64

// MarshalText returns the seconds with three decimal places.
func (s seconds) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%.3f", float64(s)), nil }

// Write writes the document.
func Write(w io.Writer, s *Suites) error {
	s.count()
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("junit: %w", err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return fmt.Errorf("junit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// count sets the sums of the suites from their cases.
func (s *Suites) count() {
	s.Tests, s.Failures, s.Errors = 0, 0, 0
	for _, x := range s.Suites {
		x.Tests, x.Failures, x.Errors = len(x.Cases), 0, 0
		for _, c := range x.Cases {
			switch {
			case c.Error != nil:
				x.Errors++
			case c.Failure != nil:
				x.Failures++
			}
		}
		s.Tests += x.Tests
		s.Failures += x.Failures
		s.Errors += x.Errors
	}
}

// maxText bounds the text of a finding in bytes.
const maxText = 8 << 10

// clean replaces all control characters except line breaks and tabs, so that XML 1.0 allows the text and terminals see
// no escape sequence in it. It cuts long text.
func clean(s string) string {
	cut := len(s) > maxText
	if cut {
		s = s[:maxText]
		for len(s) > 0 && !utf8.ValidString(s[max(0, len(s)-utf8.UTFMax):]) {
			s = s[:len(s)-1]
		}
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0xd800 && r <= 0xdfff, r >= 0xfffe && r&0xfffe == 0xfffe:
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
	if cut {
		s += "\n(cut)"
	}
	return s
}

// line returns the first line of a text.
func line(s string) string {
	head, _, _ := strings.Cut(s, "\n")
	return clean(head)
}
