package rdma

import "nictwin/scenarios/papers/study"

// upTo256 is the range of sizes in bytes that claims about small requests are judged at.
var upTo256 = []float64{16, 256}

// What is drawn of the papers beside the series of each experiment.
var (
	latencyPictures = map[string]study.Picture{
		"latency_READ": {Figure: "OP Fig. 4", Printed: []study.Printed{
			{Claim: "offpath.p1.lat_read", System: path1, At: upTo256, Is: study.Gain,
				Of: study.Base{System: path0}},
			{Claim: "offpath.p2.lat_read_vs_rnic", System: path2, At: upTo256, Is: study.Gain,
				Of: study.Base{System: path0}},
		}},
		"latency_WRITE": {Figure: "OP Fig. 4", Printed: []study.Printed{
			{Claim: "offpath.p1.abs_write", System: path1, At: []float64{64}, Is: study.Sum,
				Of: study.Base{System: path0}},
		}},
		"latency_SEND RC": {Figure: "OP Fig. 4"},
		"latency_SEND UD": {Figure: "OP Fig. 4", Printed: []study.Printed{
			{Claim: "offpath.p1.lat_send", System: path1, At: upTo256, Is: study.Gain,
				Of: study.Base{System: path0}},
		}},
	}
	ratePictures = map[string]study.Picture{
		"rate_READ": {Figure: "OP Fig. 4", Printed: []study.Printed{
			{Claim: "offpath.p2.tput_vs_p1", System: path2, At: upTo256, Is: study.Factor,
				Of: study.Base{System: path1}},
		}},
		"rate_WRITE": {Figure: "OP Fig. 4", Printed: []study.Printed{
			{Claim: "offpath.p1.tput_write", System: path1, At: upTo256, Is: study.Loss,
				Of: study.Base{System: path0}},
		}},
		"rate_SEND RC": {Figure: "OP Fig. 4"}, "rate_SEND UD": {Figure: "OP Fig. 4"},
	}
	zeroPictures = map[string]study.Picture{
		"zero": {Figure: "OP Fig. 11", Printed: []study.Printed{
			{Claim: "offpath.c12.concurrent", System: both, At: []float64{11}},
		}},
		"zero_WRITE": {Figure: "OP Fig. 11, for WRITE"},
	}
	largePictures = map[string]study.Picture{
		"large_bandwidth": {Figure: "OP Fig. 8 and 9", Printed: []study.Printed{
			{Claim: "offpath.p2.large_read_collapse", System: "path 2 READ", Is: study.Position},
			{Claim: "offpath.p1.large_bw", System: "path 1 READ"},
		}},
		"large_packets": {Figure: "OP Fig. 8 and 9", Printed: []study.Printed{
			{Claim: "offpath.p1.large_mpps", System: "path 1 READ"},
			{Claim: "offpath.p2.large_read_mpps_before", System: "path 2 READ", At: []float64{0, 8}},
			{Claim: "offpath.p2.large_read_mpps_after", System: "path 2 READ", At: []float64{16, 56}},
		}},
		"large_packets_pcie0": {Figure: "OP Fig. 8 and 9, at PCIe0"},
		"duplex": {Figure: "OP Fig. 5, through the NIC", Printed: []study.Printed{
			{Claim: "offpath.p1.unidir", System: path1, Label: "[READ]"},
			{Claim: "offpath.p1.unidir", System: path1, Label: "[WRITE]"},
			{Claim: "offpath.p1.bidir", System: path1, Label: "[READ WRITE]"},
		}},
	}
	togetherPictures = map[string]study.Picture{
		"together_READ": {Printed: []study.Printed{
			{Claim: "offpath.c13.read_drop", System: "path 1 beside path 3", Is: study.Loss,
				Of: study.Base{System: "path 1 alone"}},
		}},
	}
	besidePictures = map[string]study.Picture{
		"beside_READ": {Printed: []study.Printed{
			{Claim: "offpath.c13.read_drop", System: "path 1 and " + h2s + ": " + path1, Is: study.Loss,
				Of: study.Base{System: "path 1 alone"}},
		}},
	}
	capMark     = study.Picture{Printed: []study.Printed{{Claim: "offpath.c13.p_minus_n_value", Is: study.Position}}}
	capPictures = map[string]study.Picture{"cap_READ_H2S": capMark, "cap_READ_S2H": capMark}

	skewedPictures = map[string]study.Picture{
		"skewed_WRITE": {Printed: []study.Printed{
			{Claim: "offpath.p2.skew_write_narrow", System: "path 2, no cache", At: []float64{1.5}},
			{Claim: "offpath.p2.skew_write_wide", System: "path 2, no cache", At: []float64{48}},
		}},
		"skewed_READ": {Printed: []study.Printed{
			{Claim: "offpath.p2.skew_read_narrow", System: "path 2, no cache", At: []float64{1.5}},
		}},
	}
	atOnce           = study.Base{At: []float64{1}}
	doorbellPictures = map[string]study.Picture{
		"doorbell": {Figure: "OP Fig. 10", Printed: []study.Printed{
			{Claim: "offpath.db.soc_side", System: s2h, At: []float64{16, 80}, Is: study.Factor, Of: atOnce},
			{Claim: "offpath.db.client", System: path1, At: []float64{16, 80}, Is: study.Gain, Of: atOnce},
			{Claim: "offpath.db.host_48", System: h2s, At: []float64{48}, Is: study.Gain, Of: atOnce},
		}},
	}
)
