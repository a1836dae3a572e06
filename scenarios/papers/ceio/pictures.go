package ceio

import "nictwin/scenarios/papers/study"

// What is drawn of the paper beside the series of each experiment.
var mixPictures = map[string]study.Picture{
	"mixes": {Figure: "CE Table 4", Printed: []study.Printed{
		{Claim: "ceio.t4.base.3_1", System: string(baseline), Label: "6:2"},
		{Claim: "ceio.t4.ceio_wo.3_1", System: string(without), Label: "6:2"},
		{Claim: "ceio.t4.ceio.3_1", System: string(withCEIO), Label: "6:2"},
		{Claim: "ceio.t4.ceio_wo.1_1", System: string(without), Label: "4:4"},
		{Claim: "ceio.t4.ceio.1_1", System: string(withCEIO), Label: "4:4"},
		{Claim: "ceio.t4.base.1_3", System: string(baseline), Label: "2:6"},
		{Claim: "ceio.t4.ceio_wo.1_3", System: string(without), Label: "2:6"},
	}},
}

var staticPictures = map[string]study.Picture{
	"static_" + involved: {Figure: "CE Fig. 9"}, "static_" + bypass: {Figure: "CE Fig. 9"},
	"misses_" + involved: {Figure: "CE Fig. 9", Printed: []study.Printed{
		{Claim: "ceio.e2e.missrate_ceio", System: string(withCEIO)},
	}},
	"misses_" + bypass: {Figure: "CE Fig. 9", Printed: []study.Printed{
		{Claim: "ceio.les.linefs_miss", System: string(withCEIO)},
	}},
	"tails_" + involved: {Figure: "CE Table 2", Printed: []study.Printed{
		{Claim: "ceio.t2.baseline.erpc_dpdk.p99", System: string(baseline), Label: "99%"},
		{Claim: "ceio.t2.ceio.erpc_dpdk.p99", System: string(withCEIO), Label: "99%"},
	}},
	"tails_" + bypass: {Figure: "CE Table 2", Printed: []study.Printed{
		{Claim: "ceio.t2.baseline.linefs.p99", System: string(baseline), Label: "99%"},
		{Claim: "ceio.t2.ceio.linefs.p99", System: string(withCEIO), Label: "99%"},
	}},
}

var dynamicPictures = map[string]study.Picture{
	"dynamic": {Figure: "CE Fig. 4a, 10a", Printed: []study.Printed{
		{Claim: "ceio.mot.hostcc_gain", System: string(hostCC), Is: study.Factor,
			Of: study.Base{System: string(baseline)}},
	}},
	"burst": {Figure: "CE Fig. 4b, 10b", Printed: []study.Printed{
		{Claim: "ceio.e2e.burst", System: string(withCEIO), Is: study.Factor, Of: study.Base{System: string(hostCC)}},
	}},
	"burst_timeline": {Figure: "CE Fig. 10b"},
}

var singlePictures = map[string]study.Picture{"single": {Figure: "CE Fig. 11", Printed: []study.Printed{
	{Claim: "ceio.f11.slow_gap", System: "slow path", At: []float64{16_384, 65_536}, Is: study.Loss,
		Of: study.Base{System: "fast path"}},
}}}

var limitPictures = map[string]study.Picture{"vxlan": {Figure: "CE section 6.3"}}
