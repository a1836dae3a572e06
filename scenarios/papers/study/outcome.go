package study

// Outcome is the record of one run of an experiment.
type Outcome struct {
	Inputs   []Input    `json:"inputs"`
	Series   []Series   `json:"series"`
	Ledgers  []Ledger   `json:"ledgers"`
	Runs     []Run      `json:"runs"`
	Measured []Measured `json:"-"`
	SimPs    int64      `json:"sim_ps"`
}

// Measured is the measurement for a claim. It stands on runs, or on counts: On and Counted say which.
type Measured struct {
	Claim  string
	Values []float64 // one for each number of the claim; empty for a claim about an order or a shape
	// the claimed order, shape, direction or equation was found; unused if the claim has only numbers
	Holds  bool
	Broken string   // a further statement of the claim that the measurement contradicts; empty: none
	Text   string   // the result in words
	How    string   // how it was measured
	Runs   []string // names of the runs whose rates and times it is made of
	Exact  bool     // it was counted, or follows from inputs: it has no interval
}

// On names the runs whose rates or times a measurement is made of. If one of them did not converge, the claim cannot
// pass.
func (m *Measured) On(runs ...string) { m.Runs = append(m.Runs, runs...) }

// Counted says that a measurement is a count, or follows from inputs, so that it has no interval.
func (m *Measured) Counted() { m.Exact = true }

// Value records the number measured for a claim.
func (s *Session) Value(claim string, value float64, how string) *Measured {
	return s.measured(Measured{Claim: claim, Values: []float64{value}, How: how})
}

// ValueAnd records the number measured for a claim that also states something else. broken names the other statements
// that do not hold.
func (s *Session) ValueAnd(claim string, value float64, how, broken string) *Measured {
	return s.measured(Measured{Claim: claim, Values: []float64{value}, Broken: broken, How: how})
}

// Values records the numbers measured for a claim, as many as the claim has.
func (s *Session) Values(claim string, how string, values ...float64) *Measured {
	return s.measured(Measured{Claim: claim, Values: values, How: how})
}

// ValuesAnd is Values for a claim that also states something else, as ValueAnd.
func (s *Session) ValuesAnd(claim string, how, broken string, values ...float64) *Measured {
	return s.measured(Measured{Claim: claim, Values: values, Broken: broken, How: how})
}

// Holds records whether the shape, order, direction or equation of a claim was found.
func (s *Session) Holds(claim string, holds bool, text, how string) *Measured {
	return s.measured(Measured{Claim: claim, Holds: holds, Text: text, How: how})
}

func (s *Session) measured(m Measured) *Measured {
	s.Outcome.Measured = append(s.Outcome.Measured, m)
	return &s.Outcome.Measured[len(s.Outcome.Measured)-1]
}

// Above reports whether a is larger than b by more than 1% of a, the margin that orders of measured values need, as
// rates and times are known to 1%. It is false for values below 0: a and b are rates, times, or sums and ratios of
// them. They are not differences, as 1% of a difference is no margin.
func Above(a, b float64) bool { return b >= 0 && a-b > Precision*a }

// Axis is an axis of a series.
type Axis struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Log  bool   `json:"log"` // logarithmic
}

// Series holds the values of one metric over one or more axes, for several systems.
type Series struct {
	Name   string  `json:"name"`
	Title  string  `json:"title"`
	Metric string  `json:"metric"`
	Unit   string  `json:"unit"`
	Axes   []Axis  `json:"axes"`
	Points []Point `json:"points"`
	Bars   bool    `json:"bars,omitempty"` // the first axis has names, not numbers
	LogY   bool    `json:"log_y,omitempty"`
}

// Point is one value of a series.
type Point struct {
	System     string    `json:"system"`
	At         []float64 `json:"at"`              // position on each axis
	Label      string    `json:"label,omitempty"` // instead of a number on the first axis
	Value      float64   `json:"value"`
	Half       float64   `json:"half_width,omitempty"` // of the 95% confidence interval
	RoundTrips int       `json:"round_trips,omitempty"`
}

// NewSeries begins a series; add points by Add.
func NewSeries(name, title, metric, unit string, axes ...Axis) *Series {
	return &Series{Name: name, Title: title, Metric: metric, Unit: unit, Axes: axes}
}

// Add adds a point.
func (x *Series) Add(system string, value float64, at ...float64) {
	x.Points = append(x.Points, Point{System: system, At: at, Value: value})
}

// Bar adds a point at a name on the first axis.
func (x *Series) Bar(system, label string, value float64) {
	x.Bars = true
	x.Points = append(x.Points, Point{System: system, At: []float64{}, Label: label, Value: value})
}

// BarEstimate adds a point at a name on the first axis, with its confidence interval.
func (x *Series) BarEstimate(system, label string, e Estimate) {
	x.Bar(system, label, e.Gbps())
	p := &x.Points[len(x.Points)-1]
	p.Half, p.RoundTrips = e.HalfGbps(), e.RoundTrips
}

// AddEstimate adds a point with its confidence interval.
func (x *Series) AddEstimate(system string, e Estimate, at ...float64) {
	x.Points = append(x.Points, Point{System: system, At: at, Value: e.Gbps(), Half: e.HalfGbps(),
		RoundTrips: e.RoundTrips})
}

// Record adds series to the report.
func (s *Session) Record(all ...*Series) {
	for _, x := range all {
		s.Outcome.Series = append(s.Outcome.Series, *x)
	}
}

// Run reports how long a simulation ran, and the precision of its rate.
type Run struct {
	Name       string  `json:"name"`
	RoundTrips int     `json:"round_trips"`
	Relative   float64 `json:"relative_half_width"` // of the 95% confidence interval
	Converged  bool    `json:"converged"`           // to 1%
	SimPs      int64   `json:"sim_ps"`
	Scale      float64 `json:"time_scale"` // real time of the phases and timers, divided by simulated time
}

// Ran records a run for the report.
func (s *Session) Ran(name string, e Estimate, scale float64) {
	s.Outcome.Runs = append(s.Outcome.Runs, Run{name, e.RoundTrips, e.Relative(), e.Converged, int64(e.Span), scale})
}
