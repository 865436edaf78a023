#include "runtime/train/job_facts.h"

#include <optional>
#include <vector>

#include "runtime/artifact/batch_size.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/element_type.h"

namespace sgd::train {
namespace {

// Operations of matmuls and attention in half precision, of a rank and step.
double HalfOperations(const artifact::Program& program) {
  double count = 0;
  const std::vector<uint64_t> executions = artifact::ExecutionsOf(program);
  for (uint32_t i = 0; i < executions.size(); ++i) {
    const artifact::Instruction& instruction = *program.instructions()->Get(i);
    for (uint32_t k = 0; k < artifact::Size(instruction.operations()); ++k) {
      const artifact::OperationCount& one = *instruction.operations()->Get(k);
      const bool is_matmul =
          one.kind() == artifact::OperationKind::Matmul || one.kind() == artifact::OperationKind::Attention;
      const bool is_half =
          one.precision() == artifact::Precision::Half || one.precision() == artifact::Precision::Quarter;
      if (is_matmul && is_half) count += one.count() * static_cast<double>(executions[i]);
    }
  }
  return count;
}

// Mean of the stages, whose ranks are equally many.
std::optional<double> LeastSeconds(const Job& job) {
  const artifact::DeviceModel* device = job.file->root().device();
  if (device == nullptr || !(device->flops() > 0) || !(device->half_flops() > 0)) return std::nullopt;
  double seconds = 0, programs = 0;
  for (const artifact::Program* program : *job.file->root().programs()) {
    if (program->name()->string_view() != job.program.name) continue;
    const double half = HalfOperations(*program);
    seconds += (static_cast<double>(program->flops()) - half) / device->flops() + half / device->half_flops();
    programs += 1;
  }
  return programs > 0 && seconds > 0 ? std::optional(seconds / programs) : std::nullopt;
}

}  // namespace

watch::JobFacts FactsOf(const Job& job) {
  watch::JobFacts facts;
  facts.first_step = job.first_step;
  facts.steps = job.options.steps;
  facts.restarts = job.options.past_restarts;
  facts.least_seconds = LeastSeconds(job);
  if (job.feed == nullptr) return facts;
  artifact::BatchSize batch;
  for (const size_t input : job.feed->inputs()) {
    const data::TensorType& type = job.program.inputs[input].type;
    batch.Add(type.element, type.global_dims);
  }
  facts.rows = batch.rows;
  facts.tokens = batch.tokens;
  return facts;
}

}  // namespace sgd::train
