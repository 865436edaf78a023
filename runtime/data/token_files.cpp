// Tokens are converted where they are read.
#include "runtime/data/token_files.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/data/conversion.h"

namespace sgd::data {
namespace {

constexpr char kTokens[] = "tokens";

}  // namespace

absl::StatusOr<DataTensor> OpenList(DataFiles& files, const std::string& path, std::string_view name) {
  absl::StatusOr<std::vector<DataTensor>> tensors = files.Open(path);
  if (!tensors.ok()) return tensors.status();
  const bool is_npy = path.ends_with(".npy") && tensors->size() == 1;
  const auto at = is_npy ? tensors->begin() : std::ranges::find(*tensors, name, [](const DataTensor& tensor) {
    return std::string_view(tensor.entry.name);
  });
  if (at == tensors->end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": has no tensor ", QuotedName(name), "; expected one, of one dimension of integers"));
  }
  if (at->entry.dims.size() == 1 && Conversion{at->entry.element, ElementType::I64}.exists()) return *std::move(at);
  return absl::InvalidArgumentError(absl::StrCat(files.TextOf(*at), ": is ",
                                                 FileTypeText(at->entry.element, at->entry.dims),
                                                 "; expected one dimension of integers"));
}

absl::StatusOr<TokenFiles> TokenFiles::Open(std::shared_ptr<DataFiles> files, const std::vector<std::string>& paths,
                                            std::optional<ElementType> raw) {
  TokenFiles tokens(std::move(files));
  tokens.name_ = NameOfFiles(paths);
  for (const std::string& path : paths) {
    absl::StatusOr<DataTensor> tensor =
        raw ? tokens.files_->OpenRaw(path, *raw) : OpenList(*tokens.files_, path, kTokens);
    if (!tensor.ok()) return tensor.status();
    tokens.tokens_.push_back(*std::move(tensor));
  }
  return tokens;
}

absl::Status TokenFiles::Read(size_t file, uint64_t first, std::span<std::byte> target, ReadWatch& watch) const {
  const Conversion conversion{tokens_[file].entry.element, ElementType::I32};
  const uint64_t size = artifact::ElementSize(conversion.from);
  if (conversion.is_copy()) return files_->Read(tokens_[file], first * size, target, watch);
  const uint64_t count = target.size() / sizeof(int32_t);
  std::vector<std::byte> elements(count * size);
  if (absl::Status status = files_->Read(tokens_[file], first * size, elements, watch); !status.ok()) return status;
  const std::optional<uint64_t> fault = Convert(conversion, elements.data(), count, target.data());
  if (!fault) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path(file), ": token ", first + *fault, " is ",
                                                 ElementText(conversion.from, elements.data() + *fault * size),
                                                 "; expected ", conversion.ExpectedText()));
}

void TokenFiles::Announce(size_t file, uint64_t first, uint64_t count) const {
  const uint64_t size = artifact::ElementSize(tokens_[file].entry.element);
  files_->Announce(tokens_[file], first * size, count * size);
}

}  // namespace sgd::data
