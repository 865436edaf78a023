// Real rows of even size are transforms of half as many numbers: those at even and odd positions are their parts.
#include <algorithm>

#include "targets/cpu/device/fft/fft_steps.h"

namespace sgd::cpu {
namespace {

// Instructions per number to bring rows into lanes and back, and to part or join halves of real transforms.
constexpr double kLineCost = 12, kHalfCost = 8;
// Cost of a row by itself relative to its instructions.
constexpr double kRowFactor = 1.6;
// Numbers in lanes that stay in the second-level cache.
constexpr uint64_t kSecondCacheBytes = 1 << 20;
// Rows of fewer numbers are not cut across threads.
constexpr uint64_t kLeastCutNumbers = uint64_t{1} << 13;

}  // namespace

template <typename T>
FftRows<T>::FftRows(const FftKernels<T>& kernels, FftKind kind, bool is_inverse, uint64_t size, uint64_t count)
    : kernels_(kernels), kind_(kind), is_inverse_(is_inverse), size_(size), count_(count) {
  numbers_ = is_halved() ? size / 2 : size;
  if (is_halved()) half_circle_ = HalfCircleOf<T>(size);
  const auto n = static_cast<double>(numbers_);
  const uint64_t lanes = kernels.lanes, bytes = numbers_ * lanes * sizeof(T) * 4;
  const double cache = bytes <= kSecondCacheBytes ? 1 : bytes <= 2 * kSecondCacheBytes ? 1.5 : 3;
  const double in_lanes = (LaneCost(numbers_) + kLineCost * n) * cache / static_cast<double>(std::min(count, lanes));
  const double one_by_one = kRowFactor * RowTransform<T>::Cost(lanes, numbers_) +
                            (kind == FftKind::kComplex ? 0 : kHalfCost * n / static_cast<double>(lanes));
  if (in_lanes <= one_by_one) {
    lanes_.emplace(kernels, numbers_);
  } else {
    row_.emplace(kernels, numbers_);
  }
}

template <typename T>
bool FftRows<T>::CutsRows(uint32_t threads) const {
  if (lanes_ || row_->split() == nullptr) return false;
  return size_ > kMostRowNumbers || (count_ < threads && numbers_ >= kLeastCutNumbers);
}

template <typename T>
uint64_t FftRows<T>::parts(uint64_t count) const {
  return lanes_ ? (count + kernels_.lanes - 1) / kernels_.lanes : count;
}

template <typename T>
uint64_t FftRows<T>::scratch() const {
  if (lanes_) return lanes_->scratch();
  return row_->scratch() + 4 * (numbers_ + 1);
}

template <typename T>
uint64_t FftRows<T>::shared() const {
  return row_->split()->between() + 4 * (numbers_ + 1);
}

template <typename T>
void FftRows<T>::Run(uint64_t part, uint64_t count, const Numbers<const T>& from, const Numbers<T>& to, T scale,
                     T* scratch) const {
  const uint64_t begin = lanes_ ? part * kernels_.lanes : part;
  const Row row = {from.At(static_cast<int64_t>(begin * from_size())), to.At(static_cast<int64_t>(begin * to_size())),
                   scale, scratch};
  if (lanes_) return RunLanes(row.from, std::min(kernels_.lanes, count - begin), row.to, scale, scratch);
  Begin(row);
  row_->Run(Source(row), Target(row), row.scale, scratch + 4 * (numbers_ + 1));
  End(row);
}

template <typename T>
void FftRows<T>::RunLanes(const Numbers<const T>& from, uint64_t count, const Numbers<T>& to, T scale,
                          T* scratch) const {
  if (lanes_->has_steps()) return RunLanesInSteps(from, count, to, scale, scratch);
  LoadLanes(from, count, scratch, scratch + lanes_->region());
  const bool is_halved_result = kind_ == FftKind::kFromReal && is_halved();
  const int result = lanes_->RunLoaded(is_inverse_, is_halved_result ? 1 : scale, scratch);
  StoreLanes(lanes_->RowsOf(result, scratch).re, lanes_->RowsOf(1 - result, scratch).re, count, to, scale);
}

template <typename T>
void FftRows<T>::LoadBlock(const Numbers<const T>& from, uint64_t columns, uint64_t distance, uint64_t rows,
                           uint64_t count, const LaneRows<T>& block) const {
  const auto pitch = static_cast<int64_t>(from_size());
  for (uint64_t row = 0; row < rows; ++row) {
    const LaneRows<T> lanes = block.From(static_cast<int64_t>(row * columns));
    if (kind_ == FftKind::kFromReal) {
      kernels_.load_lines(from.re + 2 * row * distance, pitch, 2 * columns, count, lanes.re, lanes.stride / 2);
      continue;
    }
    const Numbers<const T> line = from.At(static_cast<int64_t>(row * distance));
    if (line.step == 2) {
      kernels_.load_lines(line.re, 2 * pitch, 2 * columns, count, lanes.re, lanes.stride / 2);
    } else {
      kernels_.load_lines(line.re, pitch, columns, count, lanes.re, lanes.stride);
      kernels_.load_lines(line.im, pitch, columns, count, lanes.im, lanes.stride);
    }
  }
}

template <typename T>
void FftRows<T>::StoreBlock(const LaneRows<T>& block, uint64_t columns, uint64_t distance, uint64_t rows,
                            uint64_t count, const Numbers<T>& to) const {
  const auto pitch = static_cast<int64_t>(to_size());
  for (uint64_t row = 0; row < rows; ++row) {
    const LaneRows<T> lanes = block.From(static_cast<int64_t>(row * columns));
    if (kind_ == FftKind::kToReal) {
      kernels_.store_lines(lanes.re, lanes.stride / 2, 2 * columns, count, to.re + 2 * row * distance, pitch);
      continue;
    }
    const Numbers<T> line = to.At(static_cast<int64_t>(row * distance));
    if (line.step == 2) {
      kernels_.store_lines(lanes.re, lanes.stride / 2, 2 * columns, count, line.re, 2 * pitch);
    } else {
      kernels_.store_lines(lanes.re, lanes.stride, columns, count, line.re, pitch);
      kernels_.store_lines(lanes.im, lanes.stride, columns, count, line.im, pitch);
    }
  }
}

template <typename T>
void FftRows<T>::RunLanesInSteps(const Numbers<const T>& from, uint64_t count, const Numbers<T>& to, T scale,
                                 T* scratch) const {
  const LanePlan<T>& plan = *lanes_;
  const uint64_t n1 = plan.rows(), n2 = plan.columns();
  const bool loads_blocks = kind_ == FftKind::kComplex || (kind_ == FftKind::kFromReal && is_halved());
  const bool stores_blocks = kind_ == FftKind::kComplex || (kind_ == FftKind::kToReal && is_halved());
  const uint64_t width = kernels_.lanes / 2;  // numbers of a vector of pairs
  const LaneRows<T> first = plan.RowsOf(0, scratch), second = plan.RowsOf(1, scratch);
  // Forward transforms of what has changed places, as the whole plan does.
  const LaneRows<T> between = is_inverse_ ? second.Swapped() : second;
  T* own = scratch + 2 * plan.region();
  auto column_of = [&](uint64_t row, uint64_t distance) {
    const LaneRows<T> column = first.From(static_cast<int64_t>(row));
    const LaneRows<T> strided = {column.re, column.im, column.stride * static_cast<int64_t>(distance)};
    return is_inverse_ ? strided.Swapped() : strided;
  };
  if (!loads_blocks) LoadLanes(from, count, scratch, scratch + plan.region());
  for (uint64_t begin = 0; begin < n2; begin += width) {
    const uint64_t columns = std::min(width, n2 - begin);
    if (loads_blocks) {
      const Numbers<const T> block = kind_ == FftKind::kFromReal ? Numbers<const T>{from.re + 2 * begin, nullptr, 1}
                                                                 : from.At(static_cast<int64_t>(begin));
      LoadBlock(block, columns, n2, n1, count, first);
    }
    for (uint64_t j = 0; j < columns; ++j) {
      const LaneRows<T> column = loads_blocks ? column_of(j, columns) : column_of(begin + j, n2);
      plan.RunColumn(begin + j, {column.re, column.im, column.stride}, between, own);
    }
  }
  const T row_scale = kind_ == FftKind::kFromReal && is_halved() ? 1 : scale;
  for (uint64_t begin = 0; begin < n1; begin += width) {
    const uint64_t columns = std::min(width, n1 - begin);
    for (uint64_t k = 0; k < columns; ++k) {
      const LaneRows<T> column = stores_blocks ? column_of(k, columns) : column_of(begin + k, n1);
      plan.RunRow(begin + k, {between.re, between.im, between.stride}, column, row_scale, own);
    }
    if (!stores_blocks) continue;
    const Numbers<T> block =
        kind_ == FftKind::kToReal ? Numbers<T>{to.re + 2 * begin, nullptr, 1} : to.At(static_cast<int64_t>(begin));
    StoreBlock(first, columns, n1, n2, count, block);
  }
  if (!stores_blocks) StoreLanes(first.re, second.re, count, to, scale);
}

// To `loaded`; `buffer` is used on the way.
template <typename T>
void FftRows<T>::LoadLanes(const Numbers<const T>& from, uint64_t count, T* loaded, T* buffer) const {
  const uint64_t lanes = kernels_.lanes;
  const auto pitch = static_cast<int64_t>(from_size()), stride = static_cast<int64_t>(2 * lanes);
  if (kind_ == FftKind::kFromReal) {
    if (is_halved()) return kernels_.load_lines(from.re, pitch, size_, count, loaded, stride / 2);
    kernels_.load_lines(from.re, pitch, size_, count, loaded, stride);
    for (uint64_t row = 0; row < size_; ++row) std::fill_n(loaded + row * 2 * lanes + lanes, lanes, T{0});
    return;
  }
  T* numbers = is_halved() ? buffer : loaded;
  if (from.step == 2) {
    kernels_.load_lines(from.re, 2 * pitch, 2 * from_size(), count, numbers, stride / 2);
  } else {
    kernels_.load_lines(from.re, pitch, from_size(), count, numbers, stride);
    kernels_.load_lines(from.im, pitch, from_size(), count, numbers + lanes, stride);
  }
  if (kind_ == FftKind::kComplex) return;
  if (is_halved()) {
    return kernels_.join_real_lanes({numbers, numbers + lanes, stride}, half_circle_.At(0), numbers_,
                                    {loaded, loaded + lanes, stride});
  }
  std::fill_n(numbers + lanes, lanes, T{0});
  for (uint64_t row = 1; row <= size_ / 2; ++row) {
    T* mirrored = numbers + (size_ - row) * 2 * lanes;
    std::copy_n(numbers + row * 2 * lanes, lanes, mirrored);
    for (uint64_t lane = 0; lane < lanes; ++lane) mirrored[lanes + lane] = -numbers[row * 2 * lanes + lanes + lane];
  }
}

template <typename T>
void FftRows<T>::StoreLanes(T* result, T* buffer, uint64_t count, const Numbers<T>& to, T scale) const {
  const uint64_t lanes = kernels_.lanes;
  const auto pitch = static_cast<int64_t>(to_size()), stride = static_cast<int64_t>(2 * lanes);
  if (kind_ == FftKind::kToReal) {
    return kernels_.store_lines(result, is_halved() ? stride / 2 : stride, size_, count, to.re, pitch);
  }
  if (kind_ == FftKind::kFromReal && is_halved()) {
    kernels_.part_real_lanes({result, result + lanes, stride}, half_circle_.At(0), numbers_, scale,
                             {buffer, buffer + lanes, stride});
    result = buffer;
  }
  if (to.step == 2) return kernels_.store_lines(result, stride / 2, 2 * to_size(), count, to.re, 2 * pitch);
  kernels_.store_lines(result, stride, to_size(), count, to.re, pitch);
  kernels_.store_lines(result + lanes, stride, to_size(), count, to.im, pitch);
}

template <typename T>
Numbers<T> FftRows<T>::Before(const Row& row) const {
  return {row.shared, row.shared + numbers_ + 1, 1};
}

template <typename T>
Numbers<T> FftRows<T>::Behind(const Row& row) const {
  return {row.shared + 2 * (numbers_ + 1), row.shared + 3 * (numbers_ + 1), 1};
}

template <typename T>
Numbers<const T> FftRows<T>::Source(const Row& row) const {
  if (kind_ == FftKind::kComplex) return is_inverse_ ? row.from.Swapped() : row.from;
  if (kind_ == FftKind::kFromReal)
    return is_halved() ? Numbers<const T>{row.from.re, row.from.re + 1, 2} : Numbers<const T>{row.from.re, nullptr, 1};
  const Numbers<T> joined = Before(row);
  return {joined.im, joined.re, 1};
}

template <typename T>
Numbers<T> FftRows<T>::Target(const Row& row) const {
  if (kind_ == FftKind::kComplex) return is_inverse_ ? row.to.Swapped() : row.to;
  if (kind_ == FftKind::kToReal && is_halved()) return {row.to.re + 1, row.to.re, 2};
  return kind_ == FftKind::kToReal ? Behind(row).Swapped() : Behind(row);
}

// Joins or completes what becomes real.
template <typename T>
void FftRows<T>::Begin(const Row& row) const {
  if (kind_ != FftKind::kToReal) return;
  const Numbers<T> copy = is_halved() ? Behind(row) : Before(row);
  const uint64_t half = size_ / 2;
  for (uint64_t k = 0; k <= half; ++k) {
    copy.re[k] = row.from.re[static_cast<int64_t>(k) * row.from.step];
    copy.im[k] = row.from.im[static_cast<int64_t>(k) * row.from.step];
  }
  copy.im[0] = 0;
  if (is_halved()) {
    copy.im[half] = 0;
    return kernels_.join_real({copy.re, copy.im, 1}, half_circle_.At(0), 1, half, Before(row));
  }
  for (uint64_t k = 1; k <= half; ++k) {
    copy.re[size_ - k] = copy.re[k];
    copy.im[size_ - k] = -copy.im[k];
  }
}

template <typename T>
void FftRows<T>::RunFirst(uint64_t part, const Row& row, T* scratch) const {
  row_->split()->RunFirst(part, Source(row), row.shared + 4 * (numbers_ + 1), scratch);
}

template <typename T>
void FftRows<T>::RunSecond(uint64_t part, const Row& row, T* scratch) const {
  row_->split()->RunSecond(part, row.shared + 4 * (numbers_ + 1), Target(row), row.scale, scratch);
}

template <typename T>
void FftRows<T>::End(const Row& row) const {
  if (kind_ == FftKind::kComplex || (kind_ == FftKind::kToReal && is_halved())) return;
  const Numbers<T> result = Behind(row);
  if (kind_ == FftKind::kToReal) {
    std::copy_n(result.re, size_, row.to.re);
  } else if (is_halved()) {
    result.re[numbers_] = result.re[0];
    result.im[numbers_] = result.im[0];
    kernels_.part_real({result.re, result.im, 1}, half_circle_.At(0), numbers_, row.to);
  } else {
    for (uint64_t k = 0; k <= size_ / 2; ++k) {
      row.to.re[static_cast<int64_t>(k) * row.to.step] = result.re[k];
      row.to.im[static_cast<int64_t>(k) * row.to.step] = result.im[k];
    }
  }
}

template class FftRows<float>;
template class FftRows<double>;

}  // namespace sgd::cpu
