// Shares state with the eval program where the compiler has put it in the same place, and saves
// what would be overwritten.
#include "runtime/train/evaluator.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "runtime/artifact/accesses.h"
#include "runtime/train/fed_inputs.h"
#include "runtime/train/program_view.h"
#include "runtime/train/scalars.h"

namespace sgd::train {
namespace {

const artifact::Program& ProgramOf(const Session& session, const std::string& name) {
  return **session.job().file->FindProgram(name, session.context().stage());  // executors for it exist, so it does
}

std::vector<artifact::Slice> WritesOf(const artifact::Program& program) {
  std::vector<artifact::Slice> writes;
  for (uint32_t i = 0; i < artifact::Size(program.instructions()); ++i) {
    const artifact::Accesses accesses = artifact::AccessesOf(*program.instructions()->Get(i));
    writes.insert(writes.end(), accesses.writes.begin(), accesses.writes.end());
  }
  return writes;
}

}  // namespace

Evaluator::Evaluator(Session& session) : session_(session), executor_(session.eval_executor()) {
  for (const data::InputType& output : session.job().eval->program.outputs) names_.push_back(ShortName(output.name));
  FindEndangered();
}

void Evaluator::FindEndangered() {
  const Job& job = session_.job();
  const artifact::Program& main = ProgramOf(session_, job.program.name);
  const artifact::Program& eval = ProgramOf(session_, job.eval->program.name);
  const std::vector<artifact::Slice> writes = WritesOf(eval);
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    const artifact::Holder* holder = job.program.whole.inputs[i].HolderOf(session_.context().stage());
    if (holder == nullptr || !job.IsCarried(i)) continue;
    const artifact::Slice& mine = *main.inputs()->Get(holder->index)->slice();
    bool is_endangered =
        std::ranges::any_of(writes, [&](const artifact::Slice& written) { return artifact::Overlap(written, mine); });
    // Filling an input writes too, unless it is the very same one.
    for (uint32_t k = 0; k < artifact::Size(eval.inputs()); ++k) {
      const artifact::Slice& theirs = *eval.inputs()->Get(k)->slice();
      const int32_t position = eval.inputs()->Get(k)->position();
      const size_t number = position < 0 ? k : static_cast<size_t>(position);
      const bool is_same =
          theirs.space() == mine.space() && theirs.offset() == mine.offset() &&
          std::ranges::find(job.eval->shared_inputs, std::pair(i, number)) != job.eval->shared_inputs.end();
      is_endangered = is_endangered || (!is_same && artifact::Overlap(theirs, mine));
    }
    const uint64_t bytes = session_.executor().inputs()[i].shard.local_bytes();
    if (is_endangered) endangered_.emplace_back(i, std::vector<std::byte>(bytes));
  }
}

absl::Status Evaluator::SaveState() {
  const Job& job = session_.job();
  recut_.clear();
  for (const auto& [main, eval] : job.eval->shared_inputs) {
    const data::TensorType& from = job.program.inputs[main].type;
    const data::TensorType& to = job.eval->program.inputs[eval].type;
    const std::vector<artifact::Holder>& holders = job.program.whole.inputs[main].holders;
    const auto is_at_hand = [&](const artifact::Holder& holder) {
      return job.program.whole.inputs[main].HolderOf(holder.stage) != nullptr;
    };
    if (from == to && std::ranges::all_of(job.eval->program.whole.inputs[eval].holders, is_at_hand)) continue;
    absl::StatusOr<std::vector<std::byte>> bytes =
        session_.Recut(session_.state().Bytes(main), from, holders.front().stage, to);
    if (!bytes.ok()) return bytes.status();
    if (executor_.inputs()[eval].is_held) recut_.emplace_back(eval, *std::move(bytes));
  }
  for (auto& [input, saved] : endangered_) std::ranges::copy(session_.state().Bytes(input), saved.begin());
  return absl::OkStatus();
}

void Evaluator::FillSharedInputs() {
  auto find = [](const auto& pairs, size_t input) -> const std::vector<std::byte>* {
    auto at = std::ranges::find(pairs, input, [](const auto& pair) { return pair.first; });
    return at == pairs.end() ? nullptr : &at->second;
  };
  for (const auto& [main, eval] : session_.job().eval->shared_inputs) {
    if (!executor_.inputs()[eval].is_held) continue;
    const std::vector<std::byte>* bytes = find(recut_, eval);
    if (bytes == nullptr) bytes = find(endangered_, main);
    const bool is_there =
        session_.state().IsInPlace(main) && executor_.inputs()[eval].bytes == session_.executor().inputs()[main].bytes;
    if (bytes == nullptr && is_there) continue;
    const std::span<const std::byte> source = bytes != nullptr ? *bytes : session_.state().Bytes(main);
    std::memcpy(executor_.InputBytes(eval).data(), source.data(), source.size());
  }
}

absl::Status Evaluator::RunBatch(uint64_t batch, FedInputs* fed) {
  const EvalPlan& plan = *session_.job().eval;
  FillSharedInputs();
  if (fed != nullptr) {
    if (absl::Status status = fed->Fill(batch); !status.ok()) return status;
  }
  const auto fill = [&](std::optional<size_t> input, auto value) {
    if (!input || !executor_.inputs()[*input].is_held) return;
    std::memcpy(executor_.InputBytes(*input).data(), &value, sizeof(value));
  };
  fill(plan.padding_input, static_cast<int32_t>(plan.feed == nullptr ? 0 : plan.feed->padding(batch)));
  fill(plan.rows_input, static_cast<double>(plan.feed == nullptr ? 0 : batch * plan.feed->batch_rows()));
  for (size_t i = 0; i < plan.counts.size(); ++i) {
    const auto& [output, input] = plan.counts[i];
    if (!executor_.inputs()[input].is_held) continue;
    const std::span<std::byte> bytes = executor_.InputBytes(input);
    if (batch == 0) counts_[i].assign(bytes.size(), std::byte{0});
    std::ranges::copy(counts_[i], bytes.begin());
  }
  if (absl::Status status = executor_.Run(batch); !status.ok()) return status;
  return KeepCounts();
}

// Another stage may compute a count than those that read it.
absl::Status Evaluator::KeepCounts() {
  const EvalPlan& plan = *session_.job().eval;
  const artifact::WholeProgram& whole = plan.program.whole;
  for (size_t i = 0; i < plan.counts.size(); ++i) {
    const auto& [output, input] = plan.counts[i];
    const auto& from = whole.outputs[output];
    const bool is_at_hand = std::ranges::all_of(whole.inputs[input].holders, [&](const artifact::Holder& holder) {
      return from.HolderOf(holder.stage) != nullptr;
    });
    if (is_at_hand && plan.program.outputs[output].type == plan.program.inputs[input].type) {
      if (executor_.inputs()[input].is_held) std::ranges::copy(executor_.OutputBytes(output), counts_[i].begin());
      continue;
    }
    absl::StatusOr<std::vector<std::byte>> bytes =
        session_.Recut(executor_.OutputBytes(output), plan.program.outputs[output].type, from.holders.front().stage,
                       plan.program.inputs[input].type);
    if (!bytes.ok()) return bytes.status();
    counts_[i] = *std::move(bytes);
  }
  return absl::OkStatus();
}

// Of a program that counts rows, the last batch says it all.
void Evaluator::AddScalars(EvalMeans& means) const {
  const EvalPlan& plan = *session_.job().eval;
  const auto scalars = ReadScalars(executor_, names_);
  means.resize(scalars.size());
  for (size_t i = 0; i < scalars.size(); ++i) {
    means[i].first = scalars[i].first;
    const double value = trace::AsDouble(scalars[i].second);
    means[i].second = plan.padding_input ? value : means[i].second + value / static_cast<double>(plan.batches);
  }
}

absl::StatusOr<EvalMeans> Evaluator::Evaluate() {
  const EvalPlan& plan = *session_.job().eval;
  if (absl::Status status = SaveState(); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<FedInputs>> fed = nullptr;
  if (plan.feed != nullptr) fed = FedInputs::Start(plan.feed, executor_, session_.Reading(0, plan.batches));
  if (!fed.ok()) return fed.status();
  counts_.resize(plan.counts.size());
  EvalMeans means;
  for (uint64_t batch = 0; batch < plan.batches; ++batch) {
    if (absl::Status status = RunBatch(batch, fed->get()); !status.ok()) return status;
    AddScalars(means);
  }
  for (const auto& [input, saved] : endangered_) std::ranges::copy(saved, session_.state().MutableBytes(input).begin());
  return means;
}

}  // namespace sgd::train
