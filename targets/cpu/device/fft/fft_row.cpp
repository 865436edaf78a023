// Sizes are chosen by counts of vector instructions, so by the size and the instruction set alone.
#include "targets/cpu/device/fft/fft_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "targets/cpu/device/threads/rounding.h"

namespace sgd::cpu {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// Instructions per vector of numbers for roots and a turn, and for numbers that are not read in place.
constexpr double kTurnCost = 14, kCopyCost = 4;
// The cache that a column's numbers and their transforms fit into together.
constexpr uint64_t kColumnCacheBytes = 48 << 10;
constexpr double kSecondCacheFactor = 1.25;
// From this size on roots are products of two from small tables.
constexpr uint64_t kLargeSize = uint64_t{1} << 15;
// Of large rows, so that padding to vectors is a small part.
constexpr uint64_t kLeastLargeColumn = 64;

}  // namespace

template <typename T>
uint64_t SplitRow<T>::ChooseFirst(uint64_t lanes, uint64_t size, double* cost) {
  *cost = kInfinite;
  uint64_t best = 1;
  if (LargestPrimeFactor(size) > kMostRadix) return best;
  auto consider = [&](uint64_t n1) {
    const uint64_t n2 = size / n1;
    if (size > kMostRowNumbers && n1 < kLeastLargeColumn) return;
    const auto first = static_cast<double>(RoundUp(n2, lanes) / lanes);
    const auto second = static_cast<double>(RoundUp(n1, lanes) / lanes);
    const double first_moves = kTurnCost + (n2 % lanes == 0 ? 0 : kCopyCost);
    const double second_moves = n1 % lanes == 0 ? 0 : kCopyCost;
    auto columns_cost = [&](uint64_t column, double moves) {
      const bool is_cached = column * lanes * sizeof(T) * 4 <= kColumnCacheBytes;
      return (LaneCost(column) + moves * static_cast<double>(column)) * (is_cached ? 1 : kSecondCacheFactor);
    };
    const double total = first * columns_cost(n1, first_moves) + second * columns_cost(n2, second_moves);
    if (total >= *cost) return;
    *cost = total;
    best = n1;
  };
  for (uint64_t divisor = 1; divisor * divisor <= size; ++divisor) {
    if (size % divisor != 0) continue;
    consider(divisor);
    consider(size / divisor);
  }
  return best;
}

template <typename T>
double SplitRow<T>::Cost(uint64_t lanes, uint64_t size) {
  double cost;
  ChooseFirst(lanes, size, &cost);
  return cost;
}

template <typename T>
SplitRow<T>::SplitRow(const FftKernels<T>& kernels, uint64_t size)
    : kernels_(kernels),
      first_(kernels,
             [&] {
               double cost;
               return ChooseFirst(kernels.lanes, size, &cost);
             }()),
      second_(kernels, size / first_.size()),
      pitch_(RoundUp(first_.size(), kernels.lanes)),
      has_spread_(size >= kLargeSize) {
  const uint64_t lanes = kernels.lanes, n1 = first_.size(), n2 = second_.size();
  const uint64_t columns = has_spread_ ? lanes : RoundUp(n2, lanes);
  root_pitch_ = static_cast<int64_t>(columns);
  roots_ = NumberTable<T>(n1 * columns);
  for (uint64_t k = 0; k < n1; ++k) {
    for (uint64_t j = 0; j < std::min(columns, n2); ++j) roots_.Set(k * columns + j, RootAt(j * k, size));
  }
  if (!has_spread_) return;
  spread_ = NumberTable<T>(first_blocks() * n1);
  for (uint64_t block = 0; block < first_blocks(); ++block) {
    for (uint64_t k = 0; k < n1; ++k) spread_.Set(block * n1 + k, RootAt(block * lanes * k, size));
  }
}

template <typename T>
void SplitRow<T>::RunFirst(uint64_t block, const Numbers<const T>& from, T* between, T* scratch) const {
  const uint64_t lanes = kernels_.lanes, n1 = first_.size(), n2 = second_.size();
  const uint64_t begin = block * lanes, count = std::min(lanes, n2 - begin);
  const auto stride = static_cast<int64_t>(2 * lanes);
  T* loaded = scratch + first_.scratch();
  const Numbers<const T> column = from.At(static_cast<int64_t>(begin));
  LaneRows<const T> source = {column.re, column.im, static_cast<int64_t>(n2)};
  if (from.step != 1 || from.im == nullptr || count < lanes) {
    kernels_.load_columns(column, static_cast<int64_t>(n2), n1, count, {loaded, loaded + lanes, stride});
    source = {loaded, loaded + lanes, stride};
  }
  const LaneRows<T> result = {loaded, loaded + lanes, stride};
  first_.Run(source, result, 1, scratch);
  const Numbers<T> lines = {between + begin * pitch_, between + (n2 + begin) * pitch_, 1};
  const Numbers<const T> spread = has_spread_ ? spread_.At(block * n1) : Numbers<const T>{nullptr, nullptr, 1};
  kernels_.turn({result.re, result.im, stride}, n1, count, roots_.At(has_spread_ ? 0 : begin), root_pitch_,
                has_spread_ ? &spread : nullptr, lines, static_cast<int64_t>(pitch_));
}

template <typename T>
void SplitRow<T>::RunSecond(uint64_t block, const T* between, const Numbers<T>& to, T scale, T* scratch) const {
  const uint64_t lanes = kernels_.lanes, n1 = first_.size(), n2 = second_.size();
  const uint64_t begin = block * lanes, count = std::min(lanes, n1 - begin);
  const LaneRows<const T> source = {between + begin, between + n2 * pitch_ + begin, static_cast<int64_t>(pitch_)};
  const Numbers<T> column = to.At(static_cast<int64_t>(begin));
  if (to.step == 1 && to.im != nullptr && count == lanes) {
    return second_.Run(source, {column.re, column.im, static_cast<int64_t>(n1)}, scale, scratch);
  }
  T* result = scratch + second_.scratch();
  const LaneRows<T> rows = {result, result + lanes, static_cast<int64_t>(2 * lanes)};
  second_.Run(source, rows, scale, scratch);
  kernels_.store_columns({rows.re, rows.im, rows.stride}, n2, count, column, static_cast<int64_t>(n1));
}

template <typename T>
void SplitRow<T>::Run(const Numbers<const T>& from, const Numbers<T>& to, T scale, T* between, T* scratch) const {
  for (uint64_t block = 0; block < first_blocks(); ++block) RunFirst(block, from, between, scratch);
  for (uint64_t block = 0; block < second_blocks(); ++block) RunSecond(block, between, to, scale, scratch);
}

template <typename T>
uint64_t RowTransform<T>::ConvolutionSize(uint64_t lanes, uint64_t size) {
  const uint64_t least = 2 * size - 1;
  uint64_t power = 1;
  while (power < least) power *= 2;
  uint64_t best = power;
  double best_cost = SplitRow<T>::Cost(lanes, power);
  for (uint64_t sevens = 1; sevens <= power; sevens *= 7) {
    for (uint64_t fives = sevens; fives <= power; fives *= 5) {
      for (uint64_t threes = fives; threes <= power; threes *= 3) {
        uint64_t candidate = threes;
        while (candidate < least) candidate *= 2;
        if (candidate >= power || candidate % (lanes * 2) != 0) continue;
        const double cost = SplitRow<T>::Cost(lanes, candidate);
        if (cost < best_cost) {
          best_cost = cost;
          best = candidate;
        }
      }
    }
  }
  return best;
}

template <typename T>
double RowTransform<T>::Cost(uint64_t lanes, uint64_t size) {
  const double cost = SplitRow<T>::Cost(lanes, size);
  return cost < kInfinite ? cost : 2.5 * SplitRow<T>::Cost(lanes, ConvolutionSize(lanes, size));
}

template <typename T>
RowTransform<T>::RowTransform(const FftKernels<T>& kernels, uint64_t size)
    : kernels_(kernels),
      size_(size),
      is_convolution_(LargestPrimeFactor(size) > kMostRadix),
      split_(kernels, is_convolution_ ? ConvolutionSize(kernels.lanes, size) : size) {
  if (!is_convolution_) return;
  // j k = (j^2 + k^2 - (j - k)^2) / 2, so the transform is a convolution with chirps.
  const uint64_t padded = split_.size();
  chirp_ = NumberTable<T>(size);
  std::vector<RootOfUnity> filter(padded, RootOfUnity{0, 0});
  for (uint64_t j = 0; j < size; ++j) {
    const auto square = static_cast<uint64_t>(static_cast<unsigned __int128>(j) * j % (2 * size));
    const RootOfUnity root = RootAt(square, 2 * size);
    chirp_.Set(j, root);
    filter[j] = filter[(padded - j) % padded] = {root.re / static_cast<long double>(padded),
                                                 -root.im / static_cast<long double>(padded)};
  }
  filter = TransformInTables(filter);
  filter_ = NumberTable<T>(padded);
  for (uint64_t j = 0; j < padded; ++j) filter_.Set(j, filter[j]);
}

template <typename T>
uint64_t RowTransform<T>::scratch() const {
  return split_.between() + split_.scratch() + (is_convolution_ ? 2 * split_.size() : 0);
}

template <typename T>
void RowTransform<T>::Run(const Numbers<const T>& from, const Numbers<T>& to, T scale, T* scratch) const {
  T* between = scratch + split_.scratch();
  if (!is_convolution_) return split_.Run(from, to, scale, between, scratch);
  const uint64_t padded = split_.size();
  T* re = between + split_.between();
  T* im = re + padded;
  const Numbers<T> whole = {re, im, 1};
  const Numbers<const T> read = {re, im, 1};
  kernels_.multiply(from, chirp_.At(0), 1, size_, whole);
  std::fill(re + size_, re + padded, T{0});
  std::fill(im + size_, im + padded, T{0});
  split_.Run(read, whole, 1, between, scratch);
  kernels_.multiply(read, filter_.At(0), 1, padded, whole);
  split_.Run(read.Swapped(), whole.Swapped(), 1, between, scratch);
  kernels_.multiply(read, chirp_.At(0), scale, size_, to);
}

template class SplitRow<float>;
template class SplitRow<double>;
template class RowTransform<float>;
template class RowTransform<double>;

}  // namespace sgd::cpu
