// Angles are reduced to an eighth of the circle exactly, in integers.
#include "targets/cpu/device/fft/fft_tables.h"

#include <cmath>
#include <limits>
#include <utility>

namespace sgd::cpu {
namespace {

// Of two halves that passes go between.
constexpr uint64_t kPassCacheBytes = 24 << 10;

// 8 before 4: fewer passes, and 32 registers hold all of one. Two factors of two are one of four.
std::vector<uint64_t> RadicesOf(uint64_t size) {
  std::vector<uint64_t> radices;
  for (uint64_t radix : {13, 11, 7, 5, 3}) {
    for (; size % radix == 0; size /= radix) radices.push_back(radix);
  }
  int twos = 0;
  for (; size % 2 == 0; size /= 2) ++twos;
  for (; twos > 4 || twos == 3; twos -= 3) radices.push_back(8);
  for (; twos >= 2; twos -= 2) radices.push_back(4);
  if (twos == 1) radices.push_back(2);
  for (uint64_t prime = 17; size > 1; prime += 2) {
    for (; size % prime == 0; size /= prime) radices.push_back(prime);
  }
  return radices;
}

// Instructions per row, loads and stores included.
double PassCost(uint64_t radix) {
  switch (radix) {
    case 2:
      return 8;
    case 4:
      return 11;
    case 8:
      return 15;
    default: {
      const double half = static_cast<double>(radix - 1) / 2;
      const double cost = 4 + (4 * half * half + 16 * half) / static_cast<double>(radix);
      return radix <= 13 ? cost : 2 * cost;
    }
  }
}

// The smallest divisor from the square root on.
uint64_t SmallestFactorFromRoot(uint64_t size) {
  uint64_t divisor = static_cast<uint64_t>(std::sqrt(static_cast<double>(size)));
  for (divisor += 1; divisor > 1 && (size % divisor != 0 || divisor * divisor > size); --divisor) {
  }
  return size / divisor;
}

template <typename T>
void AppendRoot(uint64_t k, uint64_t n, std::vector<T>& table) {
  const RootOfUnity root = RootAt(k, n);
  table.push_back(static_cast<T>(root.re));
  table.push_back(static_cast<T>(root.im));
}

void TransformPart(const RootOfUnity* from, uint64_t step, uint64_t size, const std::vector<RootOfUnity>& circle,
                   RootOfUnity* to) {
  if (size == 1) {
    *to = *from;
    return;
  }
  uint64_t radix = 2;
  while (size % radix != 0) ++radix;
  const uint64_t rest = size / radix, all = circle.size();
  for (uint64_t j = 0; j < radix; ++j) TransformPart(from + j * step, step * radix, rest, circle, to + j * rest);
  std::vector<RootOfUnity> parts(radix);
  for (uint64_t k = 0; k < rest; ++k) {
    for (uint64_t j = 0; j < radix; ++j) parts[j] = to[j * rest + k];
    for (uint64_t part = 0; part < radix; ++part) {
      RootOfUnity sum = {0, 0};
      for (uint64_t j = 0; j < radix; ++j) {
        const RootOfUnity root = circle[j * (k + part * rest) % size * (all / size)];
        sum.re += parts[j].re * root.re - parts[j].im * root.im;
        sum.im += parts[j].re * root.im + parts[j].im * root.re;
      }
      to[part * rest + k] = sum;
    }
  }
}

}  // namespace

RootOfUnity RootAt(uint64_t k, uint64_t n) {
  k %= n;
  // Reduces to a quarter, then mirrors its second half: 8 rest <= 4 n.
  const auto turned = static_cast<unsigned __int128>(4) * k;
  int quarter = static_cast<int>(turned / n);
  auto rest = turned % n;  // of n for a quarter
  const bool mirrors = 2 * rest > n;
  if (mirrors) rest = n - rest;
  constexpr long double kHalfPi = 1.57079632679489661923132169163975144L;
  const long double angle = kHalfPi * static_cast<long double>(rest) / static_cast<long double>(n);
  RootOfUnity root = {std::cos(angle), std::sin(angle)};
  if (2 * rest == n) root.im = root.re;
  if (mirrors) std::swap(root.re, root.im);
  for (; quarter > 0; --quarter) root = {-root.im, root.re};
  return {root.re + 0.0L, 0.0L - root.im};
}

std::vector<RootOfUnity> CircleOf(uint64_t n) {
  // Products of two from tables of about sqrt(n).
  uint64_t fine = 1;
  while (fine * fine < n) ++fine;
  std::vector<RootOfUnity> small(fine), circle(n);
  for (uint64_t i = 0; i < fine; ++i) small[i] = RootAt(i, n);
  for (uint64_t begin = 0; begin < n; begin += fine) {
    const RootOfUnity large = RootAt(begin, n);
    for (uint64_t i = 0; i < fine && begin + i < n; ++i) {
      circle[begin + i] = {large.re * small[i].re - large.im * small[i].im,
                           large.re * small[i].im + large.im * small[i].re};
    }
  }
  return circle;
}

std::vector<RootOfUnity> TransformInTables(const std::vector<RootOfUnity>& numbers) {
  std::vector<RootOfUnity> transformed(numbers.size());
  TransformPart(numbers.data(), 1, numbers.size(), CircleOf(numbers.size()), transformed.data());
  return transformed;
}

uint64_t LargestPrimeFactor(uint64_t n) {
  uint64_t largest = 1;
  for (uint64_t prime = 2; prime * prime <= n; ++prime) {
    for (; n % prime == 0; n /= prime) largest = prime;
  }
  return n > 1 ? n : largest;
}

double LaneCost(uint64_t size) {
  if (LargestPrimeFactor(size) > kMostRadix) return std::numeric_limits<double>::infinity();
  double cost = 0;
  for (uint64_t radix : RadicesOf(size)) cost += PassCost(radix);
  return cost * static_cast<double>(size);
}

template <typename T>
LanePlan<T>::LanePlan(const FftKernels<T>& kernels, uint64_t size) : kernels_(&kernels), size_(size) {
  const uint64_t bytes = 4 * kernels.lanes * size * sizeof(T);
  const uint64_t n1 = bytes > kPassCacheBytes ? SmallestFactorFromRoot(size) : size;
  if (n1 == size || n1 * 3 > size) {
    MakePasses();
    return;
  }
  const uint64_t n2 = size / n1;
  steps_.reserve(2);
  steps_.push_back(LanePlan(kernels, n1, OneStep()));
  steps_.push_back(LanePlan(kernels, n2, OneStep()));
  for (uint64_t j = 0; j < n2; ++j) {
    for (uint64_t k = 0; k < n1; ++k) AppendRoot(j * k, size, step_roots_);
  }
}

template <typename T>
LanePlan<T>::LanePlan(const FftKernels<T>& kernels, uint64_t size, OneStep) : kernels_(&kernels), size_(size) {
  MakePasses();
}

template <typename T>
void LanePlan<T>::MakePasses() {
  std::vector<std::pair<uint64_t, uint64_t>> offsets;  // of roots and circle
  uint64_t before = 1;
  for (uint64_t radix : RadicesOf(size_)) {
    const uint64_t after = size_ / before / radix;
    offsets.emplace_back(tables_.size(), 0);
    for (uint64_t i = 1; i < after; ++i) {
      for (uint64_t j = 1; j < radix; ++j) AppendRoot(i * j, after * radix, tables_);
    }
    offsets.back().second = tables_.size();
    // Factors of sums of differences: exp(2 pi i k / radix).
    for (uint64_t k = 0; radix % 2 == 1 && k < radix; ++k) AppendRoot(radix - k, radix, tables_);
    passes_.push_back({radix, before, after, nullptr, nullptr});
    before *= radix;
  }
  for (size_t i = 0; i < passes_.size(); ++i) {
    passes_[i].roots = tables_.data() + offsets[i].first;
    passes_[i].circle = tables_.data() + offsets[i].second;
  }
}

template <typename T>
LaneRows<T> LanePlan<T>::RowsOf(int region, T* scratch) const {
  T* begin = scratch + region * this->region();
  return {begin, begin + kernels_->lanes, static_cast<int64_t>(2 * kernels_->lanes)};
}

template <typename T>
void LanePlan<T>::RunColumn(uint64_t j, const LaneRows<const T>& from, const LaneRows<T>& between, T* scratch) const {
  const LaneRows<T> column = between.From(static_cast<int64_t>(j));
  T* const halves[2] = {scratch, scratch + 2 * kernels_->lanes * rows()};
  kernels_->transform(steps_[0].passes_, from, {column.re, column.im, between.stride * static_cast<int64_t>(columns())},
                      1, step_roots_.data() + 2 * j * rows(), halves);
}

template <typename T>
void LanePlan<T>::RunRow(uint64_t k, const LaneRows<const T>& between, const LaneRows<T>& to, T scale,
                         T* scratch) const {
  T* const halves[2] = {scratch, scratch + 2 * kernels_->lanes * columns()};
  kernels_->transform(steps_[1].passes_, between.From(static_cast<int64_t>(k * columns())), to, scale, nullptr, halves);
}

template <typename T>
void LanePlan<T>::RunTo(const LaneRows<const T>& from, T* between, const LaneRows<T>& to, T scale, T* scratch) const {
  const auto lanes = static_cast<int64_t>(kernels_->lanes);
  const LaneRows<T> middle = {between, between + lanes, 2 * lanes};
  T* own = scratch + 2 * region();
  for (uint64_t j = 0; j < columns(); ++j) {
    const LaneRows<const T> column = from.From(static_cast<int64_t>(j));
    RunColumn(j, {column.re, column.im, from.stride * static_cast<int64_t>(columns())}, middle, own);
  }
  for (uint64_t k = 0; k < rows(); ++k) {
    const LaneRows<T> column = to.From(static_cast<int64_t>(k));
    RunRow(k, {middle.re, middle.im, middle.stride}, {column.re, column.im, to.stride * static_cast<int64_t>(rows())},
           scale, own);
  }
}

template <typename T>
void LanePlan<T>::Run(const LaneRows<const T>& from, const LaneRows<T>& to, T scale, T* scratch) const {
  if (!steps_.empty()) return RunTo(from, scratch, to, scale, scratch);
  T* const halves[2] = {scratch, scratch + region()};
  kernels_->transform(passes_, from, to, scale, nullptr, halves);
}

template <typename T>
int LanePlan<T>::RunLoaded(bool is_swapped, T scale, T* scratch) const {
  // Passes go from one region to the other.
  const int result = steps_.empty() && (passes_.empty() || passes_.size() % 2 == 1) ? 1 : 0;
  LaneRows<T> loaded = RowsOf(0, scratch), target = RowsOf(result, scratch);
  if (is_swapped) {
    loaded = loaded.Swapped();
    target = target.Swapped();
  }
  const LaneRows<const T> from = {loaded.re, loaded.im, loaded.stride};
  if (!steps_.empty()) {
    RunTo(from, scratch + region(), target, scale, scratch);
  } else {
    T* const halves[2] = {scratch, scratch + region()};
    kernels_->transform(passes_, from, target, scale, nullptr, halves);
  }
  return result;
}

template <typename T>
NumberTable<T> HalfCircleOf(uint64_t n) {
  NumberTable<T> table(n / 2 + 1);
  for (uint64_t k = 0; k <= n / 2; ++k) table.Set(k, RootAt(k, n));
  return table;
}

template class LanePlan<float>;
template class LanePlan<double>;
template NumberTable<float> HalfCircleOf<float>(uint64_t);
template NumberTable<double> HalfCircleOf<double>(uint64_t);

}  // namespace sgd::cpu
