// The part of a compilation that an artifact keeps for tools that have no compiler: the report, the explanation, the
// timeline of each program as the clock predicts it, and what is in memory when.
#ifndef SGD_COMPILER_REPORT_RECORDS_H
#define SGD_COMPILER_REPORT_RECORDS_H

#include "compiler/export/export.h"
#include "compiler/report/explain.h"
#include "compiler/report/report.h"

namespace mlir::sgd {

/// {"report", "explanation", "groups": as summarize(), "tick": seconds of a unit of time below, "cache": {"bytes",
/// "bandwidth"} of the device, "steps": [{"program",
/// "ticks": of the step, "bubble", "stages": [{"stage": -1 where there are none, "busy", "exposed", "message_waits",
/// "host_waits": ticks, "seconds": [ticks of one execution, by instruction], "collectives": [[instruction, number in
/// the explanation]], "rows": timeline_rows.h, "buffers": buffer_records.h}]}]}, without what differs between two equal
/// compilations. `exported` is what exportPlan made of the plan, `ops` where its instructions come from. Fails with an
/// error on programs that are too long.
FailureOr<nlohmann::json> createRecords(ModuleOp plan, const ::sgd::artifact::ArtifactT& exported,
                                        const ExportedOps& ops, const Topology& topology, const Report& report,
                                        const ExplanationReport& explanation);

}  // namespace mlir::sgd

#endif
