// Fourier transforms of tensors, as steps whose parts threads share: along rows, then along the columns of each further
// dimension.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "targets/cpu/device/fft/fft_kernels.h"
#include "targets/cpu/device/fft/fft_row.h"
#include "targets/cpu/device/fft/fft_tables.h"

namespace sgd::cpu {

enum class FftKind : uint8_t { kComplex, kFromReal, kToReal };

// About `count` rows: of `size` numbers, or of `size` reals on one side and size / 2 + 1 numbers on the other. Reals
// are the first parts of Numbers of step 1. Transforms to reals are inverse ones.
template <typename T>
class FftRows {
 public:
  FftRows(const FftKernels<T>& kernels, FftKind kind, bool is_inverse, uint64_t size, uint64_t count);

  // Whether each row is split across threads, one after another; otherwise parts are rows or groups of them.
  bool CutsRows(uint32_t threads) const;
  // Of `count` rows.
  uint64_t parts(uint64_t count) const;
  // Elements of a thread's own memory for Run.
  uint64_t scratch() const;
  // `from` and `to` are where the first of `count` rows begins; further ones follow without gaps.
  void Run(uint64_t part, uint64_t count, const Numbers<const T>& from, const Numbers<T>& to, T scale,
           T* scratch) const;

  // Of one row, in this order; parts of one step may run at a time. Memory: `shared` elements for the row.
  struct Row {
    Numbers<const T> from;
    Numbers<T> to;
    T scale;
    T* shared;
  };
  uint64_t shared() const;
  uint64_t cut_scratch() const { return row_->split()->scratch(); }
  uint64_t first_parts() const { return row_->split()->first_blocks(); }
  uint64_t second_parts() const { return row_->split()->second_blocks(); }
  void Begin(const Row& row) const;
  void RunFirst(uint64_t part, const Row& row, T* scratch) const;
  void RunSecond(uint64_t part, const Row& row, T* scratch) const;
  void End(const Row& row) const;

  uint64_t from_size() const { return kind_ == FftKind::kToReal ? size_ / 2 + 1 : size_; }
  uint64_t to_size() const { return kind_ == FftKind::kFromReal ? size_ / 2 + 1 : size_; }

 private:
  bool is_halved() const { return kind_ != FftKind::kComplex && size_ % 2 == 0; }
  void RunLanes(const Numbers<const T>& from, uint64_t count, const Numbers<T>& to, T scale, T* scratch) const;
  // In two steps; numbers of rows are brought into lanes column by column and back so.
  void RunLanesInSteps(const Numbers<const T>& from, uint64_t count, const Numbers<T>& to, T scale, T* scratch) const;
  // `columns` numbers from each row's number on, every `distance`, as rows of lanes and back.
  void LoadBlock(const Numbers<const T>& from, uint64_t columns, uint64_t distance, uint64_t rows, uint64_t count,
                 const LaneRows<T>& block) const;
  void StoreBlock(const LaneRows<T>& block, uint64_t columns, uint64_t distance, uint64_t rows, uint64_t count,
                  const Numbers<T>& to) const;
  void LoadLanes(const Numbers<const T>& from, uint64_t count, T* loaded, T* buffer) const;
  void StoreLanes(T* result, T* buffer, uint64_t count, const Numbers<T>& to, T scale) const;
  // Input and output of the row's transform, in `shared`.
  Numbers<const T> Source(const Row& row) const;
  Numbers<T> Target(const Row& row) const;
  Numbers<T> Before(const Row& row) const;
  Numbers<T> Behind(const Row& row) const;

  const FftKernels<T>& kernels_;
  const FftKind kind_;
  const bool is_inverse_;
  const uint64_t size_, count_;
  uint64_t numbers_;  // of the complex transform
  std::optional<LanePlan<T>> lanes_;
  std::optional<RowTransform<T>> row_;
  NumberTable<T> half_circle_;  // where `is_halved`
};

// Along the middle one of dimensions [outer, size, inner].
template <typename T>
class FftColumns {
 public:
  FftColumns(const FftKernels<T>& kernels, bool is_inverse, uint64_t outer, uint64_t size, uint64_t inner);

  uint64_t parts() const { return outer_ * blocks_; }
  uint64_t scratch() const;
  // `to` may be `from`.
  void Run(uint64_t part, const Numbers<const T>& from, const Numbers<T>& to, T* scratch) const;

 private:
  void RunRows(const Numbers<const T>& from, uint64_t count, const Numbers<T>& to, T* scratch) const;

  const FftKernels<T>& kernels_;
  const bool is_inverse_;
  const uint64_t outer_, size_, inner_, blocks_;
  std::optional<LanePlan<T>> lanes_;
  std::optional<RowTransform<T>> row_;  // of columns that lanes would not fill, and those of large prime factors
};

extern template class FftRows<float>;
extern template class FftRows<double>;
extern template class FftColumns<float>;
extern template class FftColumns<double>;

}  // namespace sgd::cpu
