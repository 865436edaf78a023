// Tensors of files as columns: their first dimension counts rows, and tensors of one name in several files follow one
// another.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data/data_files.h"
#include "runtime/data/fingerprint.h"
#include "runtime/data/row_source.h"

namespace sgd::data {

class TensorRows : public RowSource {
 public:
  // Of files in the order in which their rows come. Errors as of DataFiles::Open. A column whose tensors differ in type
  // or in the dimensions behind the first has a fault. So has one without dimensions.
  static absl::StatusOr<std::unique_ptr<TensorRows>> Open(std::shared_ptr<DataFiles> files,
                                                          const std::vector<std::string>& paths);

  std::string name() const override { return name_; }
  Place PlaceOf(size_t column, uint64_t row) const override;
  absl::Status Read(size_t column, uint64_t row, uint64_t first, std::span<std::byte> target,
                    ReadWatch& watch) const override;
  void Announce(size_t column, uint64_t row, uint64_t first, uint64_t count) const override;
  absl::Status CheckAligned(std::span<const size_t> columns) const override;
  absl::StatusOr<std::string> Fingerprint() const override { return FingerprintOf(*files_, tensors_); }

 private:
  // The rows of a column that a tensor holds.
  struct Part {
    size_t tensor;
    uint64_t begin;  // the first one's number in the column
  };

  explicit TensorRows(std::shared_ptr<DataFiles> files) : files_(std::move(files)) {}
  void Add(size_t tensor);
  const Part& PartOf(size_t column, uint64_t row) const;
  uint64_t OffsetOf(size_t column, const Part& part, uint64_t row, uint64_t first) const;

  const std::shared_ptr<DataFiles> files_;
  std::string name_;
  std::vector<DataTensor> tensors_;
  std::vector<std::vector<Part>> parts_;   // by column, those with rows in ascending order
  std::vector<uint64_t> row_bytes_;        // by column
  std::map<std::string, size_t> by_name_;  // of columns
};

}  // namespace sgd::data
