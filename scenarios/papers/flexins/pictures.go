package flexins

import "nictwin/scenarios/papers/study"

// What is drawn of the paper beside the series of each experiment.
var connectionPictures = map[string]study.Picture{
	"throughput": {Figure: "FN Fig. 11a", Printed: []study.Printed{
		{Claim: "smartns.net.multi_linerate_conns", Is: study.Position},
		{Claim: "smartns.net.multi_vs_rnic", System: system, Is: study.Factor, Of: study.Base{System: rnicName}},
	}},
	"memory": {Figure: "FN Fig. 11b"},
	"packet": {Figure: "FN Fig. 11a"},
}
