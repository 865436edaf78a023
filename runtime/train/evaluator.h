// Runs the eval program between steps of the main one, which finds its state as it left it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/executor.h"
#include "runtime/train/fed_inputs.h"
#include "runtime/train/session.h"
#include "runtime/train/train_loop.h"

namespace sgd::train {

class Evaluator : public StateEvaluator {
 public:
  // Borrows the session, whose job evaluates.
  explicit Evaluator(Session& session);

  // Scalar outputs by short name: of a program that counts rows those of one batch of all rows, of others each the mean
  // over the batches. Call it when the main program's inputs hold the state.
  absl::StatusOr<EvalMeans> Evaluate() override;
  const std::vector<std::string>& names() const { return names_; }

 private:
  void FindEndangered();
  absl::Status SaveState();
  void FillSharedInputs();
  // `fed` may be null.
  absl::Status RunBatch(uint64_t batch, FedInputs* fed);
  absl::Status KeepCounts();
  void AddScalars(EvalMeans& means) const;

  Session& session_;
  exec::Executor& executor_;
  std::vector<std::string> names_;  // short, by output
  // By EvalPlan::counts: what the program has counted in the batches so far.
  std::vector<std::vector<std::byte>> counts_;
  // Bytes of eval's inputs that it has cut otherwise than the main program, made anew for each
  // evaluation.
  std::vector<std::pair<size_t, std::vector<std::byte>>> recut_;
  // Both programs use the same memory. Carried inputs of the main program that eval may overwrite,
  // and room for their bytes.
  std::vector<std::pair<size_t, std::vector<std::byte>>> endangered_;
};

}  // namespace sgd::train
