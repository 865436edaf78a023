// What a checkpoint would hold, as tensors in memory.
#include "runtime/train/kept_state.h"

#include <algorithm>
#include <utility>

#include "runtime/artifact/container.h"
#include "runtime/data/tensor_file_writer.h"

namespace sgd::train {
namespace {

// As CarriedState::Tensors gives them.
std::vector<data::TensorSpec> SpecsOf(const Job& job) {
  std::vector<data::TensorSpec> specs;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    const data::InputType& input = job.program.inputs[i];
    if (!job.IsFed(i)) specs.push_back({input.name, input.type.element, input.type.global_dims});
  }
  return specs;
}

uint64_t StateBytes(const Job& job) {
  uint64_t bytes = 0;
  for (const data::TensorSpec& spec : SpecsOf(job)) {
    uint64_t of_tensor = 0;
    data::TensorBytes(spec.element, spec.dims, of_tensor);
    bytes += of_tensor;
  }
  return bytes;
}

}  // namespace

checkpoint::TrainingPoint PointOf(const Job& job) {
  checkpoint::TrainingPoint point{.step = 0,
                                  .seed = job.seed,
                                  .program = job.program.name,
                                  .artifact_hash = artifact::HexHash(job.file->hash()),
                                  .mesh = {},
                                  .feed = job.feed_text,
                                  .carry = job.carry_hash};
  const auto* mesh = job.file->root().mesh();
  for (uint64_t i = 0; i < artifact::Size(mesh); ++i) {
    point.mesh.emplace_back(mesh->Get(i)->name()->str(), mesh->Get(i)->size());
  }
  return point;
}

absl::StatusOr<std::unique_ptr<checkpoint::SharedSnapshots>> MakeSnapshots(const Job& job, uint32_t ranks) {
  return checkpoint::SharedSnapshots::Create(SpecsOf(job), ranks, PointOf(job));
}

bool FitsSnapshots(const Job& job, const checkpoint::SharedSnapshots& snapshots) {
  return std::ranges::equal(SpecsOf(job), snapshots.specs(), [](const auto& a, const auto& b) {
    return a.name == b.name && a.element == b.element && a.dims == b.dims;
  });
}

uint64_t SnapshotEvery(const Job& job) {
  if (job.options.peer_copies != 0) return job.options.peer_copies;
  // Some milliseconds of copying for a step.
  constexpr uint64_t kBytesPerStep = uint64_t{64} << 20;
  return std::max<uint64_t>(1, StateBytes(job) / kBytesPerStep);
}

absl::Status SnapshotSaver::Save(uint64_t steps_done) {
  return snapshots_.Take(steps_done, state_(), [&] { return control_.Poll(); }, deadline_);
}

}  // namespace sgd::train
