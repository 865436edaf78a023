// Collects stepK.<input> tensors into batches and checks that every step is complete.
#include "runtime/data/batch_feed.h"

#include <charconv>
#include <map>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"

namespace sgd::data {
namespace {

// Splits "step12.x" into 12 and "x".
bool SplitName(std::string_view name, uint64_t& step, std::string_view& input) {
  constexpr std::string_view kPrefix = "step";
  const size_t dot = name.find('.');
  if (!name.starts_with(kPrefix) || dot == std::string_view::npos) return false;
  auto [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + dot, step);
  input = name.substr(dot + 1);
  return error == std::errc() && end == name.data() + dot && !input.empty();
}

}  // namespace

absl::StatusOr<std::unique_ptr<BatchFeed>> BatchFeed::Make(std::shared_ptr<const SafetensorsFile> file,
                                                           const std::vector<InputType>& inputs,
                                                           const NameTable& names) {
  auto feed = std::unique_ptr<BatchFeed>(new BatchFeed);
  feed->file_ = std::move(file);
  auto fault = [&](const TensorEntry& entry, const auto&... what) {
    return absl::InvalidArgumentError(
        absl::StrCat(feed->file_->path(), ": tensor ", QuotedName(entry.name), ": ", what...));
  };
  std::map<uint64_t, std::map<size_t, const TensorEntry*>> steps;
  for (const TensorEntry& entry : feed->file_->tensors()) {
    uint64_t step = 0;
    std::string_view name;
    if (!SplitName(entry.name, step, name))
      return fault(entry, "batches are named stepK.argN or stepK.<input>; rows to draw batches from go to --data");
    std::optional<size_t> input = names.Find(name);
    if (!input) return fault(entry, "the program has no input ", QuotedName(name), names.Advice(name));
    absl::Status status = CheckTensor(*feed->file_, entry, inputs[*input]);
    if (!status.ok()) return status;
    if (!steps[step].emplace(*input, &entry).second) {
      return fault(entry, "input ", QuotedName(inputs[*input].name), " occurs twice in this step");
    }
  }
  if (steps.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(feed->file_->path(), ": holds no batch; expected tensors named stepK.argN or stepK.<input>"));
  for (const auto& [input, entry] : steps.begin()->second) feed->inputs_.push_back(input);
  for (const auto& [step, entries] : steps) {
    if (step != feed->batches_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(feed->file_->path(), ": has no tensors for step",
                                                     feed->batches_.size(), ", but for step", step,
                                                     "; number steps from 0 without gaps"));
    }
    std::vector<const TensorEntry*>& batch = feed->batches_.emplace_back();
    for (size_t input : feed->inputs_) {
      auto at = entries.find(input);
      if (at == entries.end()) {
        return absl::InvalidArgumentError(absl::StrCat(feed->file_->path(), ": step", step, " does not give input ",
                                                       QuotedName(inputs[input].name),
                                                       ", other steps do; expected the same inputs in every step"));
      }
      batch.push_back(at->second);
    }
    if (entries.size() != feed->inputs_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(feed->file_->path(), ": step", step,
                       " gives more inputs than step0; expected the same inputs in every step"));
    }
  }
  return feed;
}

absl::Status BatchFeed::Fill(uint64_t step, size_t i, const Shard& shard, std::span<std::byte> local,
                             ReadWatch& watch) const {
  const TensorEntry& entry = *batches_[step % batches_.size()][i];
  const WatchedRead read(watch, file_->path(), shard.local_bytes());
  const Conversion conversion{
      entry.element, AreOtherIntegers(entry.element, shard.type().element) ? shard.type().element : entry.element};
  if (conversion.is_copy()) {
    shard.CopyIn(file_->Bytes(entry), local);
    return absl::OkStatus();
  }
  std::vector<std::byte> converted(shard.global_bytes());
  // Values were checked when the feed was made.
  static_cast<void>(Convert(conversion, file_->Bytes(entry).data(),
                            converted.size() / artifact::ElementSize(conversion.to), converted.data()));
  shard.CopyIn(converted, local);
  return absl::OkStatus();
}

}  // namespace sgd::data
