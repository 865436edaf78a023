// Rows first, then columns in place in the result; of transforms to reals columns first, in working memory.
#include "targets/cpu/device/fft/fft_transform.h"

#include <algorithm>
#include <cmath>

namespace sgd::cpu {
namespace {

// Numbers that a thread transforms in about five microseconds, below which handing work to another one does not pay.
constexpr uint64_t kNumbersPerThread = 4096;

bool HasColumns(const FftShape& shape) { return shape.m > 1 || shape.k > 1; }

}  // namespace

template <typename T>
FftTransform<T>::FftTransform(ThreadPool& pool, ThreadScratch& scratch, const FftShape& shape,
                              const Numbers<const T>& from, const Numbers<T>& to, uint64_t lanes, T* workspace)
    : pool_(pool),
      scratch_(scratch),
      shape_(shape),
      from_(from),
      to_(to),
      members_(shape.kind == FftKind::kToReal && HasColumns(shape) ? lanes : shape.batch),
      workspace_(workspace),
      kernels_(FftKernelsFor<T>(BestInstructionSet())),
      rows_(kernels_, shape.kind, shape.is_inverse, shape.n, members_ * shape.k * shape.m) {
  const uint64_t inner = shape.kind == FftKind::kComplex ? shape.n : row_size();
  if (shape.m > 1) columns_.emplace_back(kernels_, shape.is_inverse, members_ * shape.k, shape.m, inner);
  if (shape.k > 1) columns_.emplace_back(kernels_, shape.is_inverse, members_, shape.k, shape.m * inner);
  const long double size = static_cast<long double>(shape.k * shape.m) * static_cast<long double>(shape.n);
  scale_ = static_cast<T>(shape.is_inverse ? 1 / size : 1);
  const uint64_t numbers = shape.batch * shape.k * shape.m * shape.n;
  active_ = static_cast<uint32_t>(std::clamp<uint64_t>(numbers / kNumbersPerThread, 1, pool.size()));
}

template <typename T>
absl::Status FftTransform<T>::Reserve() {
  uint64_t own = 0, shared = 0;
  if (rows_.CutsRows(active_)) {
    own = rows_.cut_scratch();
    if (shape_.n <= kMostRowNumbers) shared = rows_.shared();
  } else {
    own = rows_.scratch();
  }
  for (const FftColumns<T>& columns : columns_) own = std::max(own, columns.scratch());
  return scratch_.Reserve(own * sizeof(T), shared * sizeof(T));
}

template <typename T>
template <typename Body>
void FftTransform<T>::ForEachPart(uint64_t parts, const Body& body) {
  const auto chunks = static_cast<uint32_t>(std::min<uint64_t>(parts, ThreadPool::kMaxChunks));
  pool_.Run(active_, chunks, [&](uint32_t chunk, uint32_t thread) {
    const IndexRange range = PartOf(parts, chunks, chunk);
    T* scratch = reinterpret_cast<T*>(scratch_.For(thread));
    for (uint64_t part = range.begin; part < range.end; ++part) body(part, scratch);
    pool_.CountPart(thread);
  });
}

template <typename T>
void FftTransform<T>::Run() {
  if (shape_.batch == 0) return;
  if (shape_.kind == FftKind::kToReal && !columns_.empty()) return RunToReal();
  RunRows(from_, to_, members_);
  for (const FftColumns<T>& columns : columns_) RunColumns(columns, {to_.re, to_.im, to_.step}, to_, members_);
}

template <typename T>
void FftTransform<T>::RunToReal() {
  const uint64_t member = shape_.k * shape_.m * row_size();
  const Numbers<T> spectra = {workspace_, workspace_ + members_ * member, 1};
  const Numbers<const T> read = {spectra.re, spectra.im, 1};
  for (uint64_t begin = 0; begin < shape_.batch; begin += members_) {
    const uint64_t members = std::min(members_, shape_.batch - begin);
    Numbers<const T> from = from_.At(static_cast<int64_t>(begin * member));
    for (const FftColumns<T>& columns : columns_) {
      RunColumns(columns, from, spectra, members);
      from = read;
    }
    RunRows(read, to_.At(static_cast<int64_t>(begin * shape_.k * shape_.m * shape_.n)), members);
  }
}

template <typename T>
void FftTransform<T>::RunColumns(const FftColumns<T>& columns, const Numbers<const T>& from, const Numbers<T>& to,
                                 uint64_t members) {
  ForEachPart(columns.parts() / members_ * members,
              [&](uint64_t part, T* scratch) { columns.Run(part, from, to, scratch); });
}

template <typename T>
void FftTransform<T>::RunRows(const Numbers<const T>& from, const Numbers<T>& to, uint64_t members) {
  const uint64_t count = members * shape_.k * shape_.m;
  if (!rows_.CutsRows(active_)) {
    return ForEachPart(rows_.parts(count),
                       [&](uint64_t part, T* scratch) { rows_.Run(part, count, from, to, scale_, scratch); });
  }
  T* shared = reinterpret_cast<T*>(scratch_.Shared());
  if (shape_.n > kMostRowNumbers) {
    const bool has_spectra = shape_.kind == FftKind::kToReal && !columns_.empty();
    shared = workspace_ + (has_spectra ? 2 * members_ * shape_.k * shape_.m * row_size() : 0);
  }
  for (uint64_t i = 0; i < count; ++i) {
    const typename FftRows<T>::Row row = {from.At(static_cast<int64_t>(i * rows_.from_size())),
                                          to.At(static_cast<int64_t>(i * rows_.to_size())), scale_, shared};
    rows_.Begin(row);
    ForEachPart(rows_.first_parts(), [&](uint64_t part, T* scratch) { rows_.RunFirst(part, row, scratch); });
    ForEachPart(rows_.second_parts(), [&](uint64_t part, T* scratch) { rows_.RunSecond(part, row, scratch); });
    rows_.End(row);
  }
}

template class FftTransform<float>;
template class FftTransform<double>;

}  // namespace sgd::cpu
