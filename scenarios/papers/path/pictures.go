package path

import "nictwin/scenarios/papers/study"

// Numbers of the papers that are drawn beside the series of each experiment.
var (
	duplexPictures = map[string]study.Picture{
		"aggregate": {Figure: "OP Fig. 5b", Printed: []study.Printed{
			{Claim: "offpath.p1.unidir", System: "path 1", Label: "READ"},
			{Claim: "offpath.p1.unidir", System: "path 1", Label: "WRITE"},
			{Claim: "offpath.p1.bidir", System: "path 1", Label: "READ and WRITE"},
			{Claim: "offpath.p2.bidir_limit", Number: 1, System: "path 2", Label: "READ", Is: study.Limit},
			{Claim: "offpath.p2.bidir_limit", Number: 1, System: "path 2", Label: "WRITE", Is: study.Limit},
			{Claim: "offpath.p2.bidir_limit", System: "path 2", Label: "READ and WRITE", Is: study.Limit},
		}},
		"large_packets": {Figure: "beside OP Fig. 8b and 9", Printed: []study.Printed{
			{Claim: "offpath.p1.large_mpps", System: "path 1", Label: "READ"},
			{Claim: "offpath.p2.large_read_mpps_before", System: "path 2", Label: "READ"},
		}},
		"large_bandwidth": {Figure: "beside OP Fig. 8a and 9", Printed: []study.Printed{
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
		"rate_write": {Figure: "OP Fig. 7b, at the memory", Printed: []study.Printed{
			{Claim: "offpath.p2.skew_write_narrow", System: "path 2, no cache", At: []float64{1.5}},
			{Claim: "offpath.p2.skew_write_wide", System: "path 2, no cache", At: []float64{48}},
		}},
		"rate_read": {Figure: "OP Fig. 7a, at the memory", Printed: []study.Printed{
			{Claim: "offpath.p2.skew_read_narrow", System: "path 2, no cache", At: []float64{1.5}},
		}},
	}
	cacheSection   = study.Picture{Figure: "beside FN, SN section 3.3"}
	echoSection    = study.Picture{Figure: "beside FN, SN section 2.3 C2"}
	passesPictures = map[string]study.Picture{
		"dram_ceilings": {Figure: "FN, SN section 2.3 C2",
			Note: "mixed: the model has FlexiNS's rate, the line is SmartNS's",
			Printed: []study.Printed{
				{Claim: "smartns.arm.dram_theoretical", Label: "reads", Is: study.Limit},
				{Claim: "smartns.arm.dram_achievable", Label: mixed},
			}},
		"receive": {Figure: "FN, SN section 3.3", Printed: []study.Printed{
			{Claim: "smartns.rx.dram_exhausted_fraction", Label: writeBack, From: ofLink},
		}},
		"receive_passes": cacheSection,
		"echo_bottleneck": {Figure: "FN, SN section 2.3 C2", Printed: []study.Printed{
			{Claim: "smartns.naive.echo_gbps", Label: "as it is"},
		}},
		"staging": echoSection, "staging_passes": echoSection,
		"knee": cacheSection, "knee_size": {Figure: "FN, SN section 3.3"},
		"residence_passes": cacheSection, "residence_throughput": cacheSection,
		"backlog": cacheSection, "backlog_bytes": cacheSection,
		"llc_bandwidth": {Figure: "FN, SN section 3.3, 800 Gbps", Printed: []study.Printed{
			{Claim: "smartns.rx.llc_bw_800g", Label: belowLLC, From: throughLLC},
		}},
	}
	stagedPictures = map[string]study.Picture{
		"staged_tx": {Figure: "FN, SN section 2.3 C1", Printed: []study.Printed{
			{Claim: "smartns.naive.link_contention", Is: study.Position},
		}},
		"staged_rx": {Figure: "beside FN, SN section 2.3 C1"},
		"card_echo": {Figure: "FN, SN section 2.3 C2", Printed: []study.Printed{
			{Claim: "smartns.naive.echo_gbps", System: allocationOff},
		}},
		"card_echo_passes": echoSection,
	}
)

// ofLink returns a fraction of the line rate as a rate.
func ofLink(fraction float64, input func(string) float64) float64 { return fraction * input("link") }

// throughLLC returns the rate that the LLC carries, if twice the line rate needs more bandwidth than it has.
func throughLLC(needed float64, input func(string) float64) float64 {
	return 2 * input("link") * input("arm.llc.rate") / needed
}
