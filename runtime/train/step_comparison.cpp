// The rank of the other plan has a segment of its own, and nobody beside it.
#include "runtime/train/step_comparison.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/guard/values.h"
#include "runtime/trace/start_times.h"

namespace sgd::train {
namespace {

// "[3, 5]" of a row-major tensor.
std::string PlaceText(const data::Dims& dims, uint64_t element) {
  std::vector<uint64_t> place;
  for (size_t d = dims.size(); d > 0; --d) {
    place.push_back(element % dims[d - 1]);
    element /= dims[d - 1];
  }
  std::ranges::reverse(place);
  return absl::StrCat("[", absl::StrJoin(place, ", "), "]");
}

}  // namespace

absl::StatusOr<std::unique_ptr<StepComparison>> StepComparison::Create(const Session& session) {
  auto comparison = absl::WrapUnique(new StepComparison(session));
  if (absl::Status status = comparison->OpenOneRank(); !status.ok()) return status;
  return comparison;
}

absl::Status StepComparison::OpenOneRank() {
  const Job& job = one_rank();
  auto segment = comm::SharedMemorySegment::Create(1, HostWindowBytes(*job.file));
  if (!segment.ok()) return segment.status();
  auto communicator = comm::SharedMemoryCommunicator::Connect(*segment, 0, job.options.deadline);
  if (!communicator.ok()) return communicator.status();
  communicator_ = *std::move(communicator);
  // On the cores of rank 0, whose threads wait meanwhile.
  rank_.threads = session_.rank().threads;
  rank_.control = &communicator_->control();
  rank_.communicator = communicator_.get();
  SessionHooks hooks{.open_cpu = session_.hooks().open_cpu, .note = [](const std::string&) {}};
  trace::StartTimes start(trace::MonotonicNanoseconds());
  absl::StatusOr<std::unique_ptr<Session>> one = Session::Create(job, rank_, hooks, start);
  if (!one.ok()) return one.status();
  one_ = *std::move(one);
  replay_ = std::make_unique<StepReplay>(*one_);
  return absl::OkStatus();
}

bool StepComparison::IsFed(const VerifiedTensor& tensor) const {
  return tensor.time == TensorTime::kBefore && session_.job().IsFed(tensor.position);
}

VerifiedTensor StepComparison::OnOneRank(const VerifiedTensor& tensor) const {
  return *CounterpartOf(session_.job(), tensor, one_rank());
}

StepComparison::Bytes StepComparison::BytesOnOneRank(const VerifiedTensor& tensor) const {
  const checkpoint::LocalTensor local = LocalTensorOf(*replay_, OnOneRank(tensor));
  Bytes bytes(local.shard.global_bytes());
  local.shard.CopyOut(local.bytes, bytes);
  return bytes;
}

void StepComparison::SetInput(const VerifiedTensor& tensor, const Bytes& bytes) {
  const size_t input = OnOneRank(tensor).position;
  one_->executor().inputs()[input].shard.CopyIn(bytes, one_->executor().InputBytes(input));
}

absl::Status StepComparison::Begin(uint64_t step) {
  if (absl::Status status = one_->FillInputs(step); !status.ok()) return status;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const std::span<const std::byte> bytes = session_.job().verification->shared->Bytes(i);
    seen_[i].many.assign(bytes.begin(), bytes.end());
    seen_[i].moved = {};
    if (tensors_[i].time == TensorTime::kBefore && !IsFed(tensors_[i])) SetInput(tensors_[i], seen_[i].many);
  }
  replay_->KeepInputs();
  if (absl::Status status = replay_->Run(step, std::nullopt, nullptr); !status.ok()) return status;
  for (size_t i = 0; i < tensors_.size(); ++i) seen_[i].one = BytesOnOneRank(tensors_[i]);
  return absl::OkStatus();
}

absl::Status StepComparison::AddNoise(uint64_t step, uint64_t seed) {
  if (absl::Status status = replay_->Run(step, seed, nullptr); !status.ok()) return status;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].time == TensorTime::kBefore) continue;
    const artifact::ElementType element = session_.job().verification->shared->specs()[i].element;
    Seen& seen = seen_[i];
    seen.moved.RaiseTo(guard::DistanceOf(element, seen.many, session_.job().verification->shared->Bytes(i)));
    seen.moved.RaiseTo(guard::DistanceOf(element, seen.one, BytesOnOneRank(tensors_[i])));
  }
  return absl::OkStatus();
}

StepComparison::Difference StepComparison::DifferenceOf(size_t tensor) const {
  const artifact::ElementType element = session_.job().verification->shared->specs()[tensor].element;
  const Seen& seen = seen_[tensor];
  Difference difference{
      .tensor = tensors_[tensor], .distance = guard::DistanceOf(element, seen.many, seen.one), .limit = {}};
  // Inputs of a step are copies, which have the same bits.
  if (tensors_[tensor].time != TensorTime::kBefore) difference.limit = guard::LimitOf(element, seen.one, seen.moved);
  difference.share = guard::ShareOf(difference.distance, difference.limit);
  return difference;
}

std::vector<StepComparison::Difference> StepComparison::Differences() const {
  std::vector<Difference> differences;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Difference difference = DifferenceOf(i);
    if (difference.share > 1) differences.push_back(difference);
  }
  return differences;
}

StepComparison::Difference StepComparison::Nearest() const {
  Difference nearest = DifferenceOf(0);
  for (size_t i = 1; i < tensors_.size(); ++i) {
    const Difference difference = DifferenceOf(i);
    if (difference.share > nearest.share) nearest = difference;
  }
  return nearest;
}

StepComparison::Coarseness StepComparison::Coarsest() const {
  Coarseness coarsest{.tensor = tensors_[0]};
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const artifact::ElementType element = session_.job().verification->shared->specs()[i].element;
    const Bytes zeros(seen_[i].one.size());
    const double norm = guard::DistanceOf(element, seen_[i].one, zeros).norm;
    const double limit = DifferenceOf(i).limit.norm;
    if (norm > 0 && limit / norm > coarsest.limit) coarsest = {.tensor = tensors_[i], .limit = limit / norm};
  }
  return coarsest;
}

std::string StepComparison::TextOf(const Difference& difference) const {
  const auto same = [&](const VerifiedTensor& tensor) {
    return tensor.time == difference.tensor.time && tensor.position == difference.tensor.position;
  };
  const auto i = static_cast<size_t>(std::ranges::find_if(tensors_, same) - tensors_.begin());
  const data::TensorSpec& spec = session_.job().verification->shared->specs()[i];
  const bool is_complex = spec.element == artifact::ElementType::C64;
  const uint64_t element = difference.distance.element;
  const std::string place = PlaceText(spec.dims, is_complex ? element / 2 : element);
  const uint64_t size = artifact::ElementSize(is_complex ? artifact::ElementType::F32 : spec.element);
  const auto number = [&](const Bytes& bytes) {
    const std::span<const std::byte> one = std::span(bytes).subspan(element * size, size);
    return absl::StrFormat("%.9g", guard::NumbersOf(spec.element, one)[0]);
  };
  const std::string values =
      absl::StrCat("at ", place, ": ", number(seen_[i].many), " instead of ", number(seen_[i].one));
  const std::string name = NameOf(session_.job(), difference.tensor);
  if (difference.tensor.time == TensorTime::kBefore)
    return absl::StrCat("input ", name, " holds other rows than on one rank ", values);
  return absl::StrCat(name, " differs from one rank by more than rounding ", values,
                      absl::StrFormat(" (rounding may change an element by %.2g)", difference.limit.largest));
}

}  // namespace sgd::train
