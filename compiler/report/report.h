// Sizes, counts and communication of a compiled artifact, per rank and per step; and their JSON form.
#ifndef SGD_COMPILER_REPORT_H
#define SGD_COMPILER_REPORT_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/report/bound_gaps.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "nlohmann/json.hpp"
#include "passes/clock/step_clock.h"
#include "passes/cost/topology.h"

namespace mlir::sgd {

/// One collective of the program; `count` is how often it runs in a step, bytes are those of all its runs.
struct CollectiveReport {
  std::string kind;
  int64_t count = 1;  ///< executions in a step; the bytes are those of all of them
  uint64_t operandBytes = 0;
  uint64_t sentBytes = 0;
  int64_t groupSize = 1;
  std::string location;
  bool inLoop = false;
  int64_t stage = -1;    ///< of a pipeline: whose ranks do it
  int64_t toStage = -1;  ///< of a message: whose ranks receive it
  /// That it moves or reduces, "gradient of params.w"; types where they have no name.
  std::vector<std::string> tensors = {};
  std::string scope = {};  ///< of the user's program, "encoder/layer0"; empty where it has none
};

/// One program of the artifact; of a pipeline the largest of each number over its stages.
struct ProgramReport {
  std::string name;
  uint64_t flops = 0;
  uint64_t kernels = 0;
  uint64_t libraryCalls = 0;
  uint64_t sentBytes = 0;
  int64_t collectives = 0;  ///< messages between stages among them
};

/// A parameter of the reported program.
struct ParameterReport {
  std::string name;
  std::string type;        ///< "f32[64,256]"
  std::string sharding;    ///< "[data, -]", "replicated"
  uint64_t bytes = 0;      ///< of the whole tensor
  uint64_t rankBytes = 0;  ///< of a rank's part
};

/// A reduction that sends less than what it reduces, or one over the same axes that does not.
struct CompressionReport {
  std::string state;               ///< what the reduced gradient updates; empty where that is no state
  std::string kind;                ///< "bf16"; empty where it is sent as it is
  uint64_t sentBytes = 0;          ///< a step; of those that are sent as they are 0
  uint64_t uncompressedBytes = 0;  ///< sent a step, if it were not compressed
  std::string location;
  std::string why;  ///< it is sent as it is
};

/// Instructions of one kind and source line that run again so that the memory limit is kept.
struct RecomputedReport {
  std::string what;  ///< "kernel", "matmul", "all_gather", ..., or "loop": a value in each of its iterations
  std::string location;
  int64_t count = 1;        ///< executions in a step beyond the first ones
  uint64_t freedBytes = 0;  ///< of buffers that are made again instead of being kept; of a loop those of an iteration
  uint64_t flops = 0;
  uint64_t sentBytes = 0;
  double seconds = 0;  ///< by the cost model
};

/// Copies between the device and its host of one kind and source line.
struct OffloadedReport {
  std::string what;      ///< "activation"; "state" and "result": on the host between steps, and behind them
  std::string name;      ///< of the state
  std::string location;  ///< empty for state
  int64_t count = 0;     ///< copies in a step, in both directions
  uint64_t bytes = 0;    ///< of what is on the host
  double seconds = 0;    ///< of the copies, by the cost model
};

/// Bytes in a rank. peak = arguments + outputs - aliased + constants + temporaries.
struct MemoryReport {
  uint64_t peak = 0;  ///< everything the plan allocates, windows, workspaces and alignment included
  uint64_t arguments = 0;
  uint64_t outputs = 0;
  uint64_t aliased = 0;  ///< bytes of outputs that live in an argument's buffer
  uint64_t constants = 0;
  uint64_t temporaries = 0;
  uint64_t host = 0;  ///< in pinned memory of the host beside the device; in no other number
};

/// Memory and work of the ranks of one stage of a pipeline.
struct StageReport {
  MemoryReport memory;
  double seconds = 0;  ///< of a step without waits for other stages, by the cost model
  uint64_t sentBytes = 0;
};

/// With several programs, memory is the artifact's; the counts are those of one program, see getReportedFunction. Of a
/// pipeline each number is that of the stage where it is largest, and collectives are those of all stages, messages
/// from one to another among them.
struct Report {
  std::string program;  ///< whose step it is
  std::string loss;     ///< name of its result that is the loss; empty where none is
  int64_t ranks = 1;
  std::vector<std::pair<std::string, int64_t>> mesh;
  std::vector<std::pair<std::string, int64_t>> sequential;  ///< axes of iterations
  std::string target;
  double compileSeconds = 0;
  double estimatedSeconds = 0;  ///< of a step, by the cost model
  double exposedSeconds = 0;    ///< of it in which ranks wait for collectives, mean over stages
  MemoryReport memory;
  std::vector<StageReport> stages;  ///< of a pipeline
  double bubble = 0;                ///< of a pipeline: the part of its stages' time that they wait, by the cost model
  uint64_t flops = 0;
  uint64_t kernels = 0;  ///< launches of compiled kernels
  uint64_t libraryCalls = 0;
  uint64_t sentBytes = 0;
  std::vector<CollectiveReport> collectives;
  std::vector<CompressionReport> compressions;
  uint64_t savedBytes = 0;                   ///< by compressed reductions
  std::vector<RecomputedReport> recomputed;  ///< what frees most comes first
  std::vector<OffloadedReport> offloaded;    ///< likewise
  double hostWaitSeconds = 0;                ///< that the device waits for these copies in a step, by the cost model
  LowerBound lowerBound;                     ///< of `sentBytes`
  std::vector<BoundGap> gaps;                ///< what stands between, the largest first
  std::vector<ProgramReport> programs;       ///< all of the artifact
  std::vector<ParameterReport> parameters;   ///< the largest first
  std::vector<std::string> advice;           ///< about what is odd; see advice.h
  bool hasUnknownTrips = false;              ///< some loop ends when its condition says so: it is counted as one trip

  nlohmann::json toJson() const;
  /// A few lines for a person.
  void print(llvm::raw_ostream& os) const;
};

/// Reads what toJson() gives, so that the same JSON and text come out again. False when something is missing or of
/// another type.
bool fromJson(const nlohmann::json& json, Report& report);

/// The function of the modules whose counts are reported: the first whose step changes state, else the first.
func::FuncOp getReportedFunction(ArrayRef<ModuleOp> modules);

/// Everything but target and compile time, from a plan-level module with offsets. `times` are those of its step
/// (planned_step.h), other estimates are for `topology`. `bound` is that of the reported function before reductions
/// were compressed: what these save is taken from it.
Report computeReport(ModuleOp plan, uint64_t constantBytes, const StepTimes& times, const Topology& topology,
                     LowerBound bound);

}  // namespace mlir::sgd

#endif
