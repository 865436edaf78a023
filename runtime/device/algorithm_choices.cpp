// Saved as pairs of texts, each behind its length in eight bytes, the lowest first.
#include "runtime/device/algorithm_choices.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sgd::device {
namespace {

constexpr size_t kLengthBytes = 8;

void Append(std::string& bytes, std::string_view text) {
  for (size_t i = 0; i < kLengthBytes; ++i) bytes.push_back(static_cast<char>(text.size() >> (8 * i) & 0xff));
  bytes.append(text);
}

// The text at the front of `bytes`, which is then behind it; nothing where it is cut off.
std::optional<std::string> Take(std::string_view& bytes) {
  if (bytes.size() < kLengthBytes) return std::nullopt;
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  bytes.remove_prefix(kLengthBytes);
  if (length > bytes.size()) return std::nullopt;
  std::string text(bytes.substr(0, length));
  bytes.remove_prefix(length);
  return text;
}

}  // namespace

absl::Status AlgorithmChoices::Use(const std::string& key, const std::function<absl::Status(std::string_view)>& use,
                                   const std::function<absl::StatusOr<std::string>()>& choose) {
  absl::Status refusal = absl::NotFoundError("there is none");
  if (auto choice = choices_.find(key); choice != choices_.end()) {
    refusal = use(choice->second);
    if (refusal.ok()) return refusal;
  }
  if (!decides_) {
    return absl::FailedPreconditionError(
        absl::StrCat("rank 0's choice of an algorithm does not fit here: ", refusal.message(), " (", key, ")"));
  }
  absl::StatusOr<std::string> chosen = choose();
  if (!chosen.ok()) return chosen.status();
  if (absl::Status status = use(*chosen); !status.ok()) return status;
  choices_[key] = *std::move(chosen);
  ++chosen_;
  return absl::OkStatus();
}

std::string AlgorithmChoices::Save() const {
  std::string bytes;
  for (const auto& [key, choice] : choices_) {
    Append(bytes, key);
    Append(bytes, choice);
  }
  return bytes;
}

absl::Status AlgorithmChoices::Restore(std::string_view bytes) {
  std::map<std::string, std::string> restored;
  while (!bytes.empty()) {
    std::optional<std::string> key = Take(bytes);
    std::optional<std::string> choice = key ? Take(bytes) : std::nullopt;
    if (!choice) return absl::InvalidArgumentError("choices of algorithms that are cut off");
    restored[*std::move(key)] = *std::move(choice);
  }
  restored.merge(choices_);
  choices_ = std::move(restored);
  return absl::OkStatus();
}

}  // namespace sgd::device
