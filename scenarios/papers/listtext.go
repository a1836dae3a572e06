package papers

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"nictwin/scenarios/papers/claims"
)

// counted are the columns of the table of counts.
var counted = []string{string(claims.Pass), string(claims.Miss), string(claims.NotConverged),
	string(claims.Anchor), string(claims.Arithmetic), NotRun, NotCovered}

// Write prints the list of claims, then the counts.
func (c *Claims) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "claim\twhere\tderivability\tpaper\tmeasured\tunit\tstatus\texperiment, and why")
	for i := range c.List {
		l := &c.List[i]
		kind := l.Derivability
		if l.Role != "output" {
			kind = l.Role
		}
		fmt.Fprintf(t, "%s\t%s, %s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.Claim, l.Paper, l.Where, kind, dash(short(l.Value)),
			l.found(), dash(l.Unit), l.status(), l.because())
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("claims: %w", err)
	}
	return c.writeCounts(w)
}

// short cuts a text to a width that leaves room for the other columns; JSON has all of it.
func short(s string) string {
	const most = 32
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func (l *Listed) found() string {
	if len(l.Measured) > 0 {
		return numbers(l.Measured)
	}
	return "-"
}

func (l *Listed) status() string {
	if l.Settled != "" {
		return l.Status + " (settled after a miss)"
	}
	return l.Status
}

// because names the experiment or the inputs of a claim, and the reason of its status.
func (l *Listed) because() string {
	var parts []string
	if l.Experiment != "" {
		parts = append(parts, l.Experiment)
	}
	if l.Experiment == "" && len(l.Inputs) > 0 {
		more := ""
		if n := len(l.Inputs) - 1; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		parts = append(parts, "input of "+l.Inputs[0]+more)
	}
	if l.Reason != "" {
		parts = append(parts, l.Reason)
	}
	return strings.Join(parts, ": ")
}

func (c *Claims) writeCounts(w io.Writer) error {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "paper\tclaims\tin all\tcovered\t%s\n", strings.ReplaceAll(strings.Join(counted, "\t"), "_", " "))
	sum := Count{Status: map[string]int{}}
	for i := range c.Counts {
		k := &c.Counts[i]
		if !slices.Contains([]string{"input", "context"}, k.Derivability) {
			k.write(t, k.Paper, k.Derivability)
			k.addTo(&sum)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%d%s\n", k.Paper, k.Derivability, k.Claims, strings.Repeat("\t-", len(counted)+1))
	}
	sum.write(t, "all", "outputs")
	if err := t.Flush(); err != nil {
		return fmt.Errorf("claims: %w", err)
	}
	scored := 0
	for _, v := range []claims.Verdict{claims.Pass, claims.Miss, claims.NotConverged} {
		scored += sum.Status[string(v)]
	}
	_, err := fmt.Fprintf(w, "\n%d claims; %d of %d outputs have an experiment; %d of %d judged ones pass\n",
		len(c.List),
		sum.covered(), sum.Claims, sum.Status[string(claims.Pass)], scored)
	return err
}

func (c *Count) write(w io.Writer, paper, kind string) {
	fmt.Fprintf(w, "%s\t%s\t%d\t%d", paper, kind, c.Claims, c.covered())
	for _, s := range counted {
		fmt.Fprintf(w, "\t%d", c.Status[s])
	}
	fmt.Fprintln(w)
}

func (c *Count) addTo(sum *Count) {
	sum.Claims += c.Claims
	for _, s := range counted {
		sum.Status[s] += c.Status[s]
	}
}
