// Package papers runs and judges the experiments of the papers: nictwin bench path, ring, flexins and ceio.
//
// Its parts are:
//   - claims: the claims of the papers as numbers, and how each is compared.
//   - study: what experiments are made of: inputs with their sources, series, byte ledgers, rates with their precision.
//   - requester: a scripted NIC for experiments that need no transport.
//   - path: experiments on links, cache and DRAM.
//   - rdma: experiments that need a NIC with a transport.
//   - ring: experiments on ring buffers over RDMA, with software on simulated cores.
//   - flexins: the figures of FlexiNS over the whole stack, by scenarios.
//
// This package runs experiments, judges their measurements, and writes table, JSON, pages and pictures (which
// scenarios/observe/chart draws).
//
// A new experiment is a study.Experiment in package path (or in a folder of its own beside it) and an entry in List
// below. It has a name, the claims that it measures, every number that it takes from outside as an Input with its
// source, and a function that connects components or boards, runs them, and records series, ledgers and the
// measurement of each claim. If a claim calibrated an input, name the claim in Anchors, and put the value without it
// into Instead: the claim is then not scored, and leave-one-out shows what else depends on it. Each measurement names
// the runs that it stands on (study.Measured.On), or says that it was counted. If a claim follows from inputs alone,
// name it in Arithmetic; if its interpretation was chosen after a first miss, say so in Settled. If a claim is missed,
// state the reason in Reasons; no constant is added to reach it. Take the claim out of uncovered.yaml, which has the
// reasons why no experiment measures one. Pictures names the figure that a series repeats, and the claims whose numbers
// are drawn in it as bands.
//
// Invariants:
//   - A claim is not scored if it is an input, follows from inputs, or calibrated an input of its own experiment.
//   - A claim passes only if each run that it stands on is known to 1%, and every seed agrees.
//   - Every claim in the files is measured, or has a reason why it is not.
//   - Each claim of an experiment is measured exactly once; a claim that is measured but not listed, or listed but not
//     measured, is an error.
//   - The digest covers inputs, series, ledgers and verdicts; it is the same in every run.
package papers
