package rdma

import "nictwin/scenarios/papers/study"

// Where claims hold.
var (
	upTo256 = []float64{16, 256}     // sizes of small requests, in bytes
	full    = []float64{1. / 16, 56} // of messages that fill the network, in MB: 64 KB, as in path/duplex, and more
	atMost  = []float64{11}          // machines: all of them
)

const (
	oneAlone = "path 1 alone"
	halves   = "1+2: half of the clients' threads on each path; the paper has 2+1, too"
)

// What is drawn of the papers beside the series of each experiment.
var (
	latencyPictures = map[string]study.Picture{
		"latency_READ": {Figure: "OP Fig. 4 and 10a", Printed: []study.Printed{
			{Claim: "offpath.p1.lat_read", System: path1, At: upTo256, Is: study.Gain,
				Of: study.Base{System: path0}},
			{Claim: "offpath.p2.lat_read_vs_rnic", System: path2, At: upTo256, Is: study.Gain,
				Of: study.Base{System: path0}},
			{Claim: "offpath.p2.lat_read_vs_p1", System: path2, At: upTo256, Is: study.Loss,
				Of: study.Base{System: path1}},
			{Claim: "offpath.p3.h2s_vs_p2", System: h2s, At: upTo256, Is: study.Gain,
				Of: study.Base{System: path2}},
		}},
		"latency_WRITE": {Figure: "OP Fig. 4 and 10a", Printed: []study.Printed{
			{Claim: "offpath.p1.abs_write", System: path1, At: []float64{64}, Is: study.Sum,
				Of: study.Base{System: path0}},
		}},
		"latency_SEND RC": {Figure: "beside OP Fig. 4"},
		"latency_SEND UD": {Figure: "OP Fig. 4 and 10a", Printed: []study.Printed{
			{Claim: "offpath.p1.lat_send", System: path1, At: upTo256, Is: study.Gain,
				Of: study.Base{System: path0}},
		}},
	}
	ratePictures = map[string]study.Picture{
		"rate_READ": {Figure: "OP Fig. 4", Printed: []study.Printed{
			{Claim: "offpath.p2.tput_vs_p1", System: path2, At: upTo256, Is: study.Factor,
				Of: study.Base{System: path1}},
			{Claim: "offpath.c12.read_gain", System: both, At: upTo256, Is: study.Factor, Of: slower},
		}},
		"rate_WRITE": {Figure: "OP Fig. 4", Printed: []study.Printed{
			{Claim: "offpath.p1.tput_write", System: path1, At: upTo256, Is: study.Loss,
				Of: study.Base{System: path0}},
			{Claim: "offpath.p2.tput_vs_p1", System: path2, At: upTo256, Is: study.Factor,
				Of: study.Base{System: path1}},
			{Claim: "offpath.c12.write_gain", System: both, At: upTo256, Is: study.Factor, Of: slower},
		}},
		"rate_SEND RC": {Figure: "beside OP Fig. 4"},
		"rate_SEND UD": {Figure: "OP Fig. 4", Printed: []study.Printed{
			{Claim: "offpath.p1.tput_send", System: path1, At: upTo256, Is: study.Loss,
				Of: study.Base{System: path0}},
		}},
	}
	slower = study.Base{System: path1, Or: path2}

	zeroPictures = map[string]study.Picture{
		"zero": {Figure: "OP Fig. 11", Note: halves, Printed: []study.Printed{
			{Claim: "offpath.c12.zero_byte_saturation", Is: study.Position},
			{Claim: "offpath.c12.concurrent", System: both, At: atMost},
			{Claim: "offpath.c12.gain_vs_p1", System: both, At: atMost, Is: study.Gain, Of: study.Base{System: path1}},
			{Claim: "offpath.c12.gain_vs_p2", System: both, At: atMost, Is: study.Gain, Of: study.Base{System: path2}},
		}},
		"zero_WRITE": {Figure: "beside OP Fig. 11", Note: halves},
	}
	largePictures = map[string]study.Picture{
		"large_bandwidth": {Figure: "OP Fig. 8a and 9", Printed: []study.Printed{
			{Claim: "offpath.p2.large_read_collapse", System: "path 2 READ", Is: study.Position},
			{Claim: "offpath.p1.large_bw", System: "path 1 READ", At: full},
			{Claim: "offpath.abs.bw_degradation", System: "path 2 READ", At: full[1:], Is: study.Loss,
				Of: study.Base{At: []float64{4}}},
		}},
		"large_packets": {Figure: "OP Fig. 8b and 9", Printed: []study.Printed{
			{Claim: "offpath.p1.large_mpps", System: "path 1 READ", At: full},
			{Claim: "offpath.p2.large_read_mpps_before", System: "path 2 READ", At: []float64{full[0], 9}},
			{Claim: "offpath.p2.large_read_mpps_after", System: "path 2 READ", At: []float64{10, full[1]}},
		}},
		"large_packets_pcie0": {Figure: "beside OP Fig. 8b and 9"},
		"large_packets_total": {Figure: "OP Fig. 9b", Printed: []study.Printed{
			{Claim: "offpath.p3.pkts_measured", System: "path 3 READ by the host", At: []float64{0.25}},
		}},
		"duplex": {Figure: "OP Fig. 5b, through the NIC", Printed: []study.Printed{
			{Claim: "offpath.p1.unidir", System: path1, Label: "READ"},
			{Claim: "offpath.p1.unidir", System: path1, Label: "WRITE"},
			{Claim: "offpath.p1.bidir", System: path1, Label: "READ and WRITE"},
			{Claim: "offpath.p2.bidir_limit", Number: 1, System: path2, Label: "READ", Is: study.Limit},
			{Claim: "offpath.p2.bidir_limit", Number: 1, System: path2, Label: "WRITE", Is: study.Limit},
			{Claim: "offpath.p2.bidir_limit", System: path2, Label: "READ and WRITE", Is: study.Limit},
		}},
	}
	togetherPictures = map[string]study.Picture{
		"together_wide": {Figure: "beside OP section 4"},
		"together_READ": {Printed: []study.Printed{
			{Claim: "offpath.c13.read_drop", System: "path 1 beside path 3", Is: study.Loss,
				Of: study.Base{System: oneAlone}},
		}},
	}
	oneBeside      = study.Picture{Figure: "beside OP section 4", Repeated: oneAlone}
	besidePictures = map[string]study.Picture{
		"beside_WRITE": oneBeside, "beside_SEND RC": oneBeside, "beside_SEND UD": oneBeside,
		"beside_READ": {Repeated: oneAlone, Printed: []study.Printed{
			{Claim: "offpath.c13.read_drop", System: "path 1 and " + h2s + ": " + path1, Is: study.Loss,
				Of: study.Base{System: oneAlone}},
		}},
	}
	capMark     = study.Picture{Printed: []study.Printed{{Claim: "offpath.c13.p_minus_n_value", Is: study.Position}}}
	two         = study.Picture{Figure: "beside OP section 4", Apart: true}
	capPictures = map[string]study.Picture{
		"cap_READ_H2S": capMark, "cap_READ_S2H": capMark, "cap_WRITE_H2S": two, "cap_WRITE_S2H": two,
	}

	skewedPictures = map[string]study.Picture{
		"skewed_WRITE": {Figure: "OP Fig. 7b", Printed: []study.Printed{
			{Claim: "offpath.p2.skew_write_narrow", System: "path 2, no cache", At: []float64{1.5}},
			{Claim: "offpath.p2.skew_write_wide", System: "path 2, no cache", At: []float64{48}},
		}},
		"skewed_READ": {Figure: "OP Fig. 7a", Printed: []study.Printed{
			{Claim: "offpath.p2.skew_read_narrow", System: "path 2, no cache", At: []float64{1.5}},
		}},
	}
	atOnce       = study.Base{At: []float64{1}}
	hopsPictures = map[string]study.Picture{
		"hops": {Figure: "OP section 3.3"}, "rdma_dma": {Figure: "OP section 2.3"},
	}
	coresPictures    = map[string]study.Picture{"posting": {Figure: "beside OP Fig. 10b"}}
	doorbellPictures = map[string]study.Picture{
		"doorbell": {Figure: "OP Fig. 10b", Printed: []study.Printed{
			{Claim: "offpath.db.soc_side", System: s2h, At: []float64{16, 80}, Is: study.Factor, Of: atOnce},
			{Claim: "offpath.db.client", System: path0, At: []float64{16, 80}, Is: study.Gain, Of: atOnce},
			{Claim: "offpath.db.client", System: path1, At: []float64{16, 80}, Is: study.Gain, Of: atOnce},
			{Claim: "offpath.db.host_48", System: h2s, At: []float64{48}, Is: study.Gain, Of: atOnce},
		}},
	}
)
