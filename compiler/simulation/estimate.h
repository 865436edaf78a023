// The numbers of a simulated step that matter to a user: times, use of devices, memory, money.
#ifndef SGD_COMPILER_SIMULATION_ESTIMATE_H
#define SGD_COMPILER_SIMULATION_ESTIMATE_H

#include <optional>
#include <string>

#include "runtime/checkpoint/failures.h"
#include "compiler/simulation/model_state.h"
#include "compiler/simulation/timed_program.h"
#include "nlohmann/json.hpp"

namespace mlir::sgd {

struct FailureEstimate {
  ::sgd::checkpoint::FailureModel model;
  double bestInterval = 0;  ///< seconds of steps between checkpoints
  double goodput = 0;       ///< with it
};

struct StepEstimate {
  std::string program;  ///< whose step it is
  std::vector<std::pair<std::string, int64_t>> mesh;
  int64_t ranks = 1;
  double stepSeconds = 0;
  double computeSeconds = 0;        ///< mean over stages
  double exposedSeconds = 0;        ///< likewise: waits for collectives
  double hostWaitSeconds = 0;       ///< likewise: waits for copies between the device and its host
  double communicationSeconds = 0;  ///< likewise: of links, hidden or not
  double bubble = 0;                ///< part of the time that stages wait for each other
  double flopsPerRank = 0;          ///< of a step, mean over stages
  double modelFlopsPerRank = 0;     ///< of a step, by the model's sizes; 0: not known
  double utilization = 0;           ///< of the data sheet's flops, by what the program computes
  uint64_t peakBytes = 0;           ///< of the rank that needs most, as the artifact was compiled
  uint64_t deviceBytes = 0;         ///< of memory that a device has; 0: not known
  uint64_t stateBytes = 0;          ///< of a rank, that a checkpoint saves
  ModelState modelState;            ///< of the stage that has most of it
  std::vector<StageTimes> stages;
  std::vector<std::pair<std::string, uint64_t>> sentBytes;  ///< by links, of the rank that sends most
  // Of a step of all ranks, by the inputs that data fills; nothing where none does.
  std::optional<uint64_t> rows, tokens;
  std::optional<uint64_t> compiledRows;  ///< of the mesh that the artifact was compiled for
  std::optional<FailureEstimate> failures;
  double goodput = 1;
  // Of an epoch, where its steps are known.
  uint64_t epochSteps = 0;
  double epochDeviceHours = 0;
  double epochPrice = 0;  ///< 0: not known

  /// Ranks keep their work on another mesh, so that more of them have a larger batch.
  bool scalesWeakly() const { return rows != compiledRows; }
  bool fits() const { return deviceBytes == 0 || peakBytes <= deviceBytes; }
  double getModelTeraflopsPerRank() const { return getTeraflopsPerSecond(modelFlopsPerRank); }
  double getTeraflopsPerRank() const { return getTeraflopsPerSecond(flopsPerRank); }

 private:
  /// A program may do nothing, in no time.
  double getTeraflopsPerSecond(double flops) const { return stepSeconds > 0 ? flops / stepSeconds / 1e12 : 0; }
};

struct EstimateOptions {
  std::string program;                ///< empty: the only one, `train` or `main`
  double failureHours = 0;            ///< mean time between failures of one rank; 0: none
  std::optional<double> saveSeconds;  ///< absent: by the state's size and the topology's storage
  double restartSeconds = 120;
  uint64_t epochSteps = 0;
  std::optional<double> pricePerHour;  ///< of a device; absent: that of the topology
  bool keepsIntervals = false;
};

/// Of a program of the artifact on `machine`.
llvm::Expected<StepEstimate> estimateStep(const Machine& machine, const EstimateOptions& options);

/// The fields of shared command lines, and more.
nlohmann::ordered_json toJson(const StepEstimate& estimate);
std::string toText(const StepEstimate& estimate);

/// A line for each estimate, and what adding ranks gains.
std::string toTable(llvm::ArrayRef<StepEstimate> sweep);

/// Steps per second of all ranks' work, as a part of what the first estimate's rate promises for as many ranks.
double getScaling(const StepEstimate& first, const StepEstimate& other);

}  // namespace mlir::sgd

#endif
