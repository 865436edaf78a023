// Lanes are neighbouring columns, which are read and written in place if they are tensors of their own.
#include <algorithm>

#include "targets/cpu/device/fft/fft_steps.h"

namespace sgd::cpu {

template <typename T>
FftColumns<T>::FftColumns(const FftKernels<T>& kernels, bool is_inverse, uint64_t outer, uint64_t size, uint64_t inner)
    : kernels_(kernels),
      is_inverse_(is_inverse),
      outer_(outer),
      size_(size),
      inner_(inner),
      blocks_((inner + kernels.lanes - 1) / kernels.lanes) {
  const double in_lanes = LaneCost(size) / static_cast<double>(std::min(inner, kernels.lanes));
  if (in_lanes <= RowTransform<T>::Cost(kernels.lanes, size) + 2 * static_cast<double>(size)) {
    lanes_.emplace(kernels, size);
  } else {
    row_.emplace(kernels, size);
  }
}

template <typename T>
uint64_t FftColumns<T>::scratch() const {
  return lanes_ ? lanes_->scratch() + lanes_->region() : row_->scratch() + 2 * size_;
}

template <typename T>
void FftColumns<T>::Run(uint64_t part, const Numbers<const T>& all_from, const Numbers<T>& all_to, T* scratch) const {
  const uint64_t lanes = kernels_.lanes, begin = part % blocks_ * lanes, count = std::min(lanes, inner_ - begin);
  const auto start = static_cast<int64_t>(part / blocks_ * size_ * inner_ + begin),
             pitch = static_cast<int64_t>(inner_);
  Numbers<const T> from = all_from.At(start);
  Numbers<T> to = all_to.At(start);
  if (is_inverse_) {
    from = from.Swapped();
    to = to.Swapped();
  }
  if (row_) return RunRows(from, count, to, scratch);
  T* own = scratch + lanes_->scratch();
  const LaneRows<T> rows = {own, own + lanes, static_cast<int64_t>(2 * lanes)};
  LaneRows<const T> source = {from.re, from.im, pitch};
  if (from.step != 1 || count < lanes) {
    kernels_.load_columns(from, pitch, size_, count, rows);
    source = {rows.re, rows.im, rows.stride};
  }
  const bool is_direct = to.step == 1 && count == lanes;
  lanes_->Run(source, is_direct ? LaneRows<T>{to.re, to.im, pitch} : rows, 1, scratch);
  if (!is_direct) kernels_.store_columns({rows.re, rows.im, rows.stride}, size_, count, to, pitch);
}

template <typename T>
void FftColumns<T>::RunRows(const Numbers<const T>& from, uint64_t count, const Numbers<T>& to, T* scratch) const {
  T* re = scratch + row_->scratch();
  T* im = re + size_;
  for (uint64_t column = 0; column < count; ++column) {
    for (uint64_t i = 0; i < size_; ++i) {
      const int64_t offset = static_cast<int64_t>(i * inner_ + column) * from.step;
      re[i] = from.re[offset];
      im[i] = from.im[offset];
    }
    row_->Run({re, im, 1}, {re, im, 1}, 1, scratch);
    for (uint64_t i = 0; i < size_; ++i) {
      const int64_t offset = static_cast<int64_t>(i * inner_ + column) * to.step;
      to.re[offset] = re[i];
      to.im[offset] = im[i];
    }
  }
}

template class FftColumns<float>;
template class FftColumns<double>;

}  // namespace sgd::cpu
