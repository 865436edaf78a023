// Files that each hold one long list of tokens, whatever the format.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/data/data_files.h"
#include "runtime/data/row_source.h"

namespace sgd::data {

class TokenFiles {
 public:
  // With `raw` the files hold elements of that type and nothing else. Otherwise each is a .npy file, or has a tensor
  // `tokens`. InvalidArgument, with the file, for other than one dimension of integers.
  static absl::StatusOr<TokenFiles> Open(std::shared_ptr<DataFiles> files, const std::vector<std::string>& paths,
                                         std::optional<ElementType> raw);

  size_t size() const { return tokens_.size(); }
  uint64_t count(size_t file) const { return tokens_[file].entry.dims[0]; }
  const std::string& path(size_t file) const { return files_->path(tokens_[file]); }
  std::string name() const { return name_; }
  DataFiles& files() const { return *files_; }
  std::span<const DataTensor> tensors() const { return tokens_; }

  // Tokens from number `first` of a file on, as I32, as many as `target` has room for. Errors as of DataFiles::Read,
  // and InvalidArgument for a token that is no I32.
  absl::Status Read(size_t file, uint64_t first, std::span<std::byte> target, ReadWatch& watch) const;
  void Announce(size_t file, uint64_t first, uint64_t count) const;

 private:
  explicit TokenFiles(std::shared_ptr<DataFiles> files) : files_(std::move(files)) {}

  std::shared_ptr<DataFiles> files_;
  std::string name_;
  std::vector<DataTensor> tokens_;
};

// The tensor called `name` of a file, or the only one of a .npy file, which must be one dimension of integers; else
// InvalidArgument.
absl::StatusOr<DataTensor> OpenList(DataFiles& files, const std::string& path, std::string_view name);

}  // namespace sgd::data
