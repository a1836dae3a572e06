package flexins

import "nictwin/scenarios/papers/study"

// What is drawn of the paper beside the series of each experiment.
var (
	connectionPictures = map[string]study.Picture{
		"throughput": {Figure: "FN Fig. 11a", Printed: []study.Printed{
			{Claim: "smartns.net.multi_linerate_conns", Is: study.Position},
			{Claim: "smartns.net.multi_vs_rnic", System: system, At: []float64{6, 12}, Is: study.Factor,
				Of: study.Base{System: rnicName}},
		}},
		"memory":      {Figure: "FN Fig. 11b"},
		"packet":      {Figure: "beside FN Fig. 11a"},
		"sensitivity": {Figure: "beside FN Fig. 11a"},
	}

	transmitPictures = map[string]study.Picture{
		"transmit": {Figure: "FN Fig. 12a", Printed: []study.Printed{
			{Claim: "smartns.tx.header_only_vs_dma_small", System: headerOnly, At: []float64{512, 4096},
				Is: study.Factor, Of: study.Base{System: staged}},
		}},
		"transmit_memory": {Figure: "FN Fig. 12b", Printed: []study.Printed{
			{Claim: "smartns.tx.armmem_header_only", System: headerOnly},
			{Claim: "smartns.tx.armmem_vs_dma", System: staged, Is: study.Factor, Of: study.Base{System: headerOnly}},
		}},
	}
	duplexPictures = map[string]study.Picture{
		"over_time": {Figure: "FN Fig. 13", Note: "a millisecond stands for a second of the paper"},
		"timeline": {Figure: "FN Fig. 13, by phases", Printed: []study.Printed{
			{Claim: "smartns.tx.duplex_header_only", System: headerOnly, Label: during, Is: study.Loss,
				Of: study.Base{Label: before}},
		}},
		"timeline_received": {Figure: "beside FN Fig. 13"},
	}
	receivePictures = map[string]study.Picture{
		"receive": {Figure: "FN Fig. 14a"},
		"receive_memory": {Figure: "FN Fig. 14b", Printed: []study.Printed{
			{Claim: "smartns.rxe.armmem", System: inCache},
		}},
	}

	sizePictures = map[string]study.Picture{
		"throughput": {Figure: "FN Fig. 10a, b", Printed: []study.Printed{
			{Claim: "smartns.net.single_tput_vs_rnic", System: system + " send", At: []float64{4096, 65536},
				Is: study.Factor, Of: study.Base{System: rnicName + " send"}},
			{Claim: "smartns.net.single_tput_vs_rnic", System: system + " write", At: []float64{4096, 65536},
				Is: study.Factor, Of: study.Base{System: rnicName + " write"}},
		}},
		"latency": {Figure: "FN Fig. 10c, d", Printed: []study.Printed{
			{Claim: "smartns.net.lat_vs_rnic", System: system + " send", Is: study.Factor,
				Of: study.Base{System: rnicName + " send"}},
			{Claim: "smartns.net.lat_vs_rnic", System: system + " write", Is: study.Factor,
				Of: study.Base{System: rnicName + " write"}},
		}},
	}
	notifyPictures = map[string]study.Picture{
		"notify_rate": {Figure: "FN Fig. 15a", Printed: []study.Printed{
			{Claim: "smartns.pipe.tput_vs_doorbell", System: system, Label: "pipe", Is: study.Factor,
				Of: study.Base{Label: "doorbell, pushed"}},
		}},
		"notify_latency": {Figure: "FN Fig. 15a", Printed: []study.Printed{
			{Claim: "smartns.pipe.lat_vs_mmio", System: system, Label: "pipe", Is: study.Factor,
				Of: study.Base{Label: "MMIO"}},
		}},
	}
	reflectorPictures = map[string]study.Picture{
		"reflector": {Figure: "FN Fig. 15b", Printed: []study.Printed{
			{Claim: "smartns.naive.l2_latency", Label: system},
			{Claim: "smartns.l2.unopt_vs_rnic", Label: system, Is: study.Factor, Of: study.Base{Label: rnicName}},
			{Claim: "smartns.l2.opt_minus_rnic", Label: lowLatency, Is: study.Sum, Of: study.Base{Label: rnicName}},
		}},
	}
	walkPictures = map[string]study.Picture{
		"walk": {Figure: "FN Fig. 16a", Printed: []study.Printed{
			{Claim: "smartns.eng.list_latency", System: byReads, At: []float64{32}, Is: study.Factor,
				Of: study.Base{System: system}},
		}},
		"walk_spread": {Figure: "FN Fig. 16a"},
	}
	batchPictures = map[string]study.Picture{
		"batch": {Figure: "FN Fig. 16b", Printed: []study.Printed{
			{Claim: "smartns.eng.batched_read", System: system + ", 8 engine cores", At: []float64{64},
				Is: study.Factor, Of: study.Base{System: rnicName}},
		}},
	}
)
