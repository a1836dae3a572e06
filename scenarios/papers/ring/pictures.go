package ring

import "nictwin/scenarios/papers/study"

// What is drawn of the paper beside the series of each experiment.
var (
	throughputPictures = map[string]study.Picture{
		"throughput": {Figure: "RB2 Fig. 5", Printed: []study.Printed{
			{Claim: "rb2.e1.large_bw", System: "RB2", At: largest},
			{Claim: "rb2.e1.l5_large", System: "L5", At: largest},
			{Claim: "rb2.e1.sd_small_vs_raw", System: "SocksDirect", At: smallest, Is: study.Factor,
				Of: study.Base{System: "WRITE"}},
		}},
	}
	smallest = []float64{64}
	largest  = []float64{64 << 10} // of largeInputs

	roundTripPictures = map[string]study.Picture{
		"mean": {Figure: "RB2 Fig. 6", Printed: []study.Printed{
			{Claim: "rb2.e2.small_avg", System: "RB2", At: smallest},
			{Claim: "rb2.e2.l5_64B", System: "L5", At: smallest},
		}},
		"p999": {Figure: "RB2 Fig. 6"},
	}
	syncPictures = map[string]study.Picture{
		"throughput": {Figure: "RB2 Fig. 3", Printed: []study.Printed{
			{Claim: "rb2.mb.push_gain_64B", System: "Push+CQ", At: smallest, Is: study.Gain,
				Of: study.Base{System: "Pull+CQ"}},
			{Claim: "rb2.mb.push_gain_64B", Number: 1, System: "Push+WT", At: smallest, Is: study.Gain,
				Of: study.Base{System: "Pull+WT"}},
		}},
		"p999": {Figure: "RB2 Fig. 3"},
	}
	ablationPictures = map[string]study.Picture{
		"throughput": {Printed: []study.Printed{
			{Claim: "rb2.e4.m2_no_batching", System: smallMessages, Label: withoutBatching, Is: study.Loss,
				Of: study.Base{Label: complete}},
			{Claim: "rb2.e4.m7_cache_large", System: largeMessages, Label: unaligned, Is: study.Loss,
				Of: study.Base{Label: complete}},
		}},
	}
	casePictures = map[string]study.Picture{
		"nf": {Figure: "RB2 Fig. 8", Printed: []study.Printed{
			{Claim: "rb2.c1.time", Label: "RB2"},
			{Claim: "rb2.c1.vs_farm", Label: "RB2", Is: study.Factor, Of: study.Base{Label: "FaRM"}},
		}},
		"db": {Figure: "RB2 Fig. 9", Printed: []study.Printed{{Claim: "rb2.c2.time", Label: "RB2"}}},
		"http": {Figure: "RB2 Fig. 10", Printed: []study.Printed{
			{Claim: "rb2.c3.qps_rb2", Label: "RB2"}, {Claim: "rb2.c3.qps_sd", Label: "SocksDirect"},
		}},
		"http_p999": {Figure: "RB2 Fig. 10", Printed: []study.Printed{{Claim: "rb2.c3.tail_rb2", Label: "RB2"}}},
	}
)
