// All ranks run a step again with noise, and rank 0 runs it on one rank meanwhile; barriers keep them together, so that
// no wait is longer than a step on one rank.
#include "runtime/train/step_verifier.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/instruction_text.h"
#include "runtime/checkpoint/tensor_runs.h"
#include "runtime/trace/json_log.h"

namespace sgd::train {
namespace {

// docs/decisions/101 measures how many are enough.
constexpr uint64_t kDraws = 4;
// Of a tensor's norm: a limit above it is told.
constexpr double kCoarse = 0.5;

uint64_t SeedOf(uint64_t step, uint64_t draw) { return step * kDraws + draw + 1; }

const artifact::Program* ProgramOf(const Job& job, int32_t stage) {
  absl::StatusOr<const artifact::Program*> program = job.file->FindProgram(job.program.name, stage);
  return program.ok() ? *program : nullptr;
}

// The output of the program that a tensor is, as a step leaves it.
std::optional<size_t> OutputOf(const Job& job, const VerifiedTensor& tensor) {
  if (tensor.time == TensorTime::kOutput) return tensor.position;
  for (const auto& [output, input] : job.carry) {
    if (tensor.time == TensorTime::kAfter && input == tensor.position) return output;
  }
  return std::nullopt;
}

std::vector<guard::ValueRecords> Part(const std::vector<guard::ValueRecords>& ranks, uint64_t first, uint64_t count) {
  const auto begin = ranks.begin() + static_cast<ptrdiff_t>(first);
  return {begin, begin + static_cast<ptrdiff_t>(count)};
}

using guard::DifferenceSource;

// Wrong values of the stage itself before those of messages, then what is sure, then what comes first.
bool IsBefore(const DifferenceSource& a, const DifferenceSource& b) {
  const auto key = [](const DifferenceSource& source) {
    return std::tuple(source.kind == DifferenceSource::Kind::kReceived, source.kind == DifferenceSource::Kind::kUnknown,
                      source.execution);
  };
  return key(a) < key(b);
}

std::string TextOf(const artifact::Program& program, const DifferenceSource& source) {
  const std::string instruction = artifact::InstructionText(program, source.instruction);
  switch (source.kind) {
    case DifferenceSource::Kind::kReceived:
      return absl::StrCat(instruction, " reads it of a message");
    case DifferenceSource::Kind::kSummands:
      return absl::StrCat(instruction, " leaves summands of it on the ranks, which nothing adds up");
    default:
      break;
  }
  std::string text = absl::StrCat(instruction, source.kind == DifferenceSource::Kind::kDiffers
                                                   ? " is the first with another result"
                                                   : " is the first whose result one rank has not");
  if (source.begin) {
    absl::StrAppend(&text, "; its operands come from ", artifact::InstructionText(program, *source.begin),
                    ", whose result one rank has not");
  }
  if (source.summands) {
    absl::StrAppend(&text, "; summands of ", artifact::InstructionText(program, *source.summands),
                    " are read before anything has added them up");
  }
  return text;
}

}  // namespace

StepVerifier::StepVerifier(Session& session, TrainObserver* observer)
    : session_(session),
      observer_(observer),
      end_(session.job().first_step + session.job().options.verify.steps),
      tensors_(VerifiedTensors(session.job())),
      replay_(session) {}

absl::StatusOr<std::unique_ptr<StepVerifier>> StepVerifier::Create(Session& session, TrainObserver* observer) {
  auto verifier = absl::WrapUnique(new StepVerifier(session, observer));
  if (!session.is_first_rank()) return verifier;
  absl::StatusOr<std::unique_ptr<StepComparison>> comparison = StepComparison::Create(session);
  if (!comparison.ok()) return comparison.status();
  verifier->comparison_ = *std::move(comparison);
  return verifier;
}

absl::Status StepVerifier::BeforeStep(uint64_t step) {
  step_.reset();
  if (step >= end_) return absl::OkStatus();
  replay_.KeepInputs();
  step_ = step;
  return absl::OkStatus();
}

void StepVerifier::StepEnded(const trace::StepRecord&) {
  if (step_) replay_.KeepOutputs();
}

absl::StatusOr<uint64_t> StepVerifier::Check(uint64_t steps_done) {
  if (!step_ || *step_ + 1 != steps_done) return steps_done;
  step_.reset();
  replay_.KeepState();
  if (absl::Status status = Compare(steps_done - 1); !status.ok()) return status;
  replay_.RestoreState();
  session_.AllowDelay();
  return steps_done;
}

// Rank 0 reads what all have put together until the next call.
absl::Status StepVerifier::Share() {
  const absl::Duration deadline = session_.job().options.deadline;
  if (absl::Status status = session_.control().Barrier(deadline); !status.ok()) return status;
  std::vector<checkpoint::LocalTensor> tensors;
  for (const VerifiedTensor& tensor : tensors_) tensors.push_back(LocalTensorOf(replay_, tensor));
  if (session_.job().verification->is_gathered) return Gather(tensors);
  session_.job().verification->shared->Fill(++shares_, tensors);
  return session_.control().Barrier(deadline);
}

// Ranks that do not share memory with rank 0 send it what they have, each replica a part.
absl::Status StepVerifier::Gather(const std::vector<checkpoint::LocalTensor>& tensors) {
  const bool is_reader = session_.is_first_rank();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const checkpoint::LocalTensor& tensor = tensors[i];
    const bool has_part = tensor.replicas != 0 && !tensor.bytes.empty();
    const absl::StatusOr<std::vector<std::string>> parts = session_.control().GatherBytes(
        has_part ? checkpoint::RunsOf(tensor, tensor.replica, tensor.replicas) : "", session_.job().options.deadline);
    if (!parts.ok()) return parts.status();
    for (size_t part = 0; is_reader && part < parts->size(); ++part) {
      absl::Status status = checkpoint::PutRuns((*parts)[part], session_.job().verification->shared->tensor(i));
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status StepVerifier::Compare(uint64_t step) {
  if (absl::Status status = Share(); !status.ok()) return status;
  if (comparison_ != nullptr) {
    if (absl::Status status = comparison_->Begin(step); !status.ok()) return status;
  }
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    const uint64_t seed = SeedOf(step, draw);
    if (absl::Status status = replay_.Run(step, seed, nullptr); !status.ok()) return status;
    if (absl::Status status = Share(); !status.ok()) return status;
    if (comparison_ == nullptr) continue;
    if (absl::Status status = comparison_->AddNoise(step, seed); !status.ok()) return status;
  }
  absl::StatusOr<bool> differs = AgreeOnDifference();
  if (!differs.ok()) return differs.status();
  if (!*differs) {
    if (comparison_ == nullptr) return absl::OkStatus();
    return Log(step, comparison_->Nearest(), nullptr);
  }
  absl::StatusOr<Finding> finding = Locate(step);
  if (!finding.ok()) return finding.status();
  if (session_.job().options.verify.only_notes) return absl::OkStatus();
  return EndAsRank(finding->rank, absl::OutOfRangeError(absl::StrCat("verify: ", finding->text)), session_.control(),
                   session_.job().options.deadline);
}

absl::StatusOr<bool> StepVerifier::AgreeOnDifference() {
  const bool differs = comparison_ != nullptr && !comparison_->Differences().empty();
  absl::StatusOr<std::vector<std::string>> all =
      session_.control().AllGatherBytes(differs ? "d" : "", session_.job().options.deadline);
  if (!all.ok()) return all.status();
  return !all->front().empty();
}

absl::StatusOr<StepVerifier::Recorded> StepVerifier::Record(uint64_t step) {
  Recorded recorded;
  for (uint64_t draw = 0; draw <= kDraws; ++draw) {
    guard::ValueRecords records;
    const auto seed = draw == 0 ? std::nullopt : std::optional(SeedOf(step, draw - 1));
    if (absl::Status status = replay_.Run(step, seed, &records); !status.ok()) return status;
    absl::StatusOr<std::vector<std::string>> texts =
        session_.control().GatherBytes(guard::BytesOf(records), session_.job().options.deadline);
    if (!texts.ok()) return texts.status();
    std::vector<guard::ValueRecords> ranks;
    for (const std::string& text : *texts) {
      absl::StatusOr<guard::ValueRecords> of_rank = guard::RecordsOf(text);
      if (!of_rank.ok()) return of_rank.status();
      ranks.push_back(*std::move(of_rank));
    }
    if (draw == 0) {
      recorded.plain = std::move(ranks);
    } else {
      recorded.moved.push_back(std::move(ranks));
    }
  }
  return recorded;
}

absl::StatusOr<StepVerifier::Finding> StepVerifier::Locate(uint64_t step) {
  absl::StatusOr<Recorded> many = Record(step);
  if (!many.ok()) return many.status();
  Finding finding;
  if (comparison_ != nullptr) {
    Recorded one;
    for (uint64_t draw = 0; draw <= kDraws; ++draw) {
      guard::ValueRecords records;
      const auto seed = draw == 0 ? std::nullopt : std::optional(SeedOf(step, draw - 1));
      if (absl::Status status = comparison_->replay().Run(step, seed, &records); !status.ok()) return status;
      (draw == 0 ? one.plain : one.moved.emplace_back()).push_back(std::move(records));
    }
    const std::vector<StepComparison::Difference> differences = comparison_->Differences();
    absl::StatusOr<Located> located = FindFirst(differences, *many, one);
    if (!located.ok()) return located.status();
    finding = FindingOf(step, differences, *located);
    if (absl::Status status = Log(step, located->difference, &finding); !status.ok()) return status;
  }
  return Tell(finding);
}

// The difference whose source comes first; of several from one source, the first of them.
absl::StatusOr<StepVerifier::Located> StepVerifier::FindFirst(
    const std::vector<StepComparison::Difference>& differences, const Recorded& many, const Recorded& one) const {
  Located first{.difference = differences.front(), .source = {}};
  if (first.difference.tensor.time == TensorTime::kBefore) return first;
  const Job& job = session_.job();
  const guard::OneRankValues known(*ProgramOf(comparison_->one_rank(), -1), guard::SumsOf(one.plain, one.moved));
  const uint64_t ranks = job.file->ranks_of_stage();
  for (uint64_t begin = 0; begin < job.file->ranks(); begin += ranks) {
    const int32_t stage = job.file->StageOf(begin);
    std::vector<std::vector<guard::ValueRecords>> moved;
    for (const auto& draw : many.moved) moved.push_back(Part(draw, begin, ranks));
    const artifact::Program& program = *ProgramOf(job, stage);
    const std::vector<guard::ValueSums> values = guard::SumsOf(Part(many.plain, begin, ranks), moved);
    const guard::FirstDifference walk(program, job.file->root().kernels(), values, known, static_cast<uint32_t>(ranks));
    for (const StepComparison::Difference& difference : differences) {
      const std::optional<size_t> output = OutputOf(job, difference.tensor);
      const artifact::Holder* holder = output ? job.program.whole.outputs[*output].HolderOf(stage) : nullptr;
      if (holder == nullptr) continue;
      const auto source = walk.SourceOf(*program.outputs()->Get(holder->index)->slice());
      if (!source || (first.source && !IsBefore(*source, *first.source))) continue;
      first = {.difference = difference, .source = source, .stage = stage};
    }
  }
  return first;
}

StepVerifier::Finding StepVerifier::FindingOf(uint64_t step, const std::vector<StepComparison::Difference>& differences,
                                              const Located& located) const {
  Finding finding;
  finding.text = absl::StrCat("step ", step, ": ", comparison_->TextOf(located.difference));
  if (located.source) {
    if (located.stage > 0) finding.rank = static_cast<uint32_t>(located.stage * session_.job().file->ranks_of_stage());
    const artifact::Program& program = *ProgramOf(session_.job(), located.stage);
    absl::StrAppend(&finding.text, "; ", TextOf(program, *located.source));
  } else if (located.difference.tensor.time == TensorTime::kAfter) {
    absl::StrAppend(&finding.text,
                    "; the instructions have the results of one rank, so the fault is in what is carried");
  }
  std::vector<std::string> others;
  for (const StepComparison::Difference& difference : differences) {
    const std::string name = NameOf(session_.job(), difference.tensor);
    if (name != NameOf(session_.job(), located.difference.tensor)) others.push_back(name);
  }
  constexpr size_t kMostNames = 4;
  if (others.size() > kMostNames) {
    const size_t rest = others.size() - kMostNames + 1;
    others.resize(kMostNames - 1);
    others.push_back(absl::StrCat(rest, " more"));
  }
  if (!others.empty()) absl::StrAppend(&finding.text, "; also different: ", absl::StrJoin(others, ", "));
  return finding;
}

// Rank 0's finding, on all ranks.
absl::StatusOr<StepVerifier::Finding> StepVerifier::Tell(const Finding& finding) const {
  absl::StatusOr<std::vector<std::string>> all = session_.control().AllGatherBytes(
      comparison_ == nullptr ? "" : absl::StrCat(finding.rank, " ", finding.text), session_.job().options.deadline);
  if (!all.ok()) return all.status();
  const std::string& text = all->front();
  Finding told;
  const size_t space = text.find(' ');
  if (space == std::string::npos || !absl::SimpleAtoi(text.substr(0, space), &told.rank))
    return absl::DataLossError("verify: rank 0 tells no difference");
  told.text = text.substr(space + 1);
  return told;
}

absl::Status StepVerifier::Log(uint64_t step, const StepComparison::Difference& difference, const Finding* finding) {
  if (observer_ == nullptr) return absl::OkStatus();
  const Job& job = session_.job();
  const StepComparison::Coarseness coarsest = comparison_->Coarsest();
  std::string json =
      absl::StrCat("{\"event\": \"verify\", \"step\": ", step, ", \"agrees\": ", finding == nullptr ? "true" : "false",
                   ", \"tensor\": ", trace::JsonString(NameOf(job, difference.tensor)),
                   ", \"share\": ", trace::NumberJson(difference.share),
                   ", \"coarsest\": ", trace::JsonString(NameOf(job, coarsest.tensor)),
                   ", \"limit\": ", trace::NumberJson(coarsest.limit));
  if (finding == nullptr && coarsest.limit > kCoarse && !std::exchange(has_told_coarsest_, true)) {
    observer_->Note(absl::StrCat("verify: step ", step, ": rounding may change ", NameOf(job, coarsest.tensor), " by ",
                                 absl::StrFormat("%.2g", coarsest.limit),
                                 " of its norm, so that smaller errors of it are not found"));
  }
  if (finding != nullptr) {
    const bool goes_on = session_.job().options.verify.only_notes;
    absl::StrAppend(&json, ", \"rank\": ", finding->rank, ", \"action\": ", goes_on ? "\"note\"" : "\"stop\"",
                    ", \"text\": ", trace::JsonString(finding->text));
    if (goes_on) observer_->Note(absl::StrCat("verify: ", finding->text));
  }
  return observer_->Event(json + "}");
}

}  // namespace sgd::train
