package path

import "nictwin/scenarios/papers/study"

// Numbers of the papers that are drawn beside the series of each experiment.
var (
	duplexPictures = map[string]study.Picture{
		"aggregate": {Figure: "OP Fig. 5", Printed: []study.Printed{
			{Claim: "offpath.p1.unidir", System: "path 1", Label: "READ"},
			{Claim: "offpath.p1.unidir", System: "path 1", Label: "WRITE"},
			{Claim: "offpath.p1.bidir", System: "path 1", Label: "READ and WRITE"},
			{Claim: "offpath.p2.bidir_limit", Number: 1, System: "path 2", Label: "READ"},
			{Claim: "offpath.p2.bidir_limit", Number: 1, System: "path 2", Label: "WRITE"},
			{Claim: "offpath.p2.bidir_limit", System: "path 2", Label: "READ and WRITE"},
		}},
		"large_packets": {Figure: "OP Fig. 8 and 9", Printed: []study.Printed{
			{Claim: "offpath.p1.large_mpps", System: "path 1", Label: "READ"},
			{Claim: "offpath.p2.large_read_mpps_before", System: "path 2", Label: "READ"},
		}},
		"large_bandwidth": {Figure: "OP Fig. 8 and 9", Printed: []study.Printed{
			{Claim: "offpath.p1.large_bw", System: "path 1", Label: "READ"},
		}},
	}
	capPicture = study.Picture{Printed: []study.Printed{
		{Claim: "offpath.c13.p_minus_n_value", Is: study.Position},
	}}
	pMinusNPictures = map[string]study.Picture{
		"beside path 3 S2H": capPicture, "beside path 3 S2H" + linksOnly: capPicture,
		"beside path 3 H2S": capPicture, "beside path 3 H2S" + linksOnly: capPicture,
	}
	skewPictures = map[string]study.Picture{
		"rate_write": {Printed: []study.Printed{
			{Claim: "offpath.p2.skew_write_narrow", System: "path 2, no cache", At: []float64{1.5}},
			{Claim: "offpath.p2.skew_write_wide", System: "path 2, no cache", At: []float64{48}},
		}},
		"rate_read": {Printed: []study.Printed{
			{Claim: "offpath.p2.skew_read_narrow", System: "path 2, no cache", At: []float64{1.5}},
		}},
	}
	passesPictures = map[string]study.Picture{
		"echo_bottleneck": {Printed: []study.Printed{{Claim: "smartns.naive.echo_gbps", Label: "as it is"}}},
	}
)
