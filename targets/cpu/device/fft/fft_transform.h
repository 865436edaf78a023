// One Fourier transform of a batch of tensors, ready to run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "targets/cpu/device/fft/fft_steps.h"
#include "targets/cpu/device/threads/thread_pool.h"
#include "targets/cpu/device/threads/thread_scratch.h"

namespace sgd::cpu {

// [batch, k, m, n] of which 1 to 3 dimensions are transformed; k and m are 1 where they are not.
struct FftShape {
  FftKind kind;
  bool is_inverse;
  uint64_t batch, k, m, n;
};

template <typename T>
class FftTransform {
 public:
  // `workspace` is memory for `lanes` members of the batch, as linear_algebra::WorkspaceOf says.
  FftTransform(ThreadPool& pool, ThreadScratch& scratch, const FftShape& shape, const Numbers<const T>& from,
               const Numbers<T>& to, uint64_t lanes, T* workspace);

  // Makes room in the scratch memory.
  absl::Status Reserve();
  // The same bits whatever threads there are.
  void Run();

 private:
  void RunRows(const Numbers<const T>& from, const Numbers<T>& to, uint64_t members);
  void RunColumns(const FftColumns<T>& columns, const Numbers<const T>& from, const Numbers<T>& to, uint64_t members);
  void RunToReal();
  template <typename Body>
  void ForEachPart(uint64_t parts, const Body& body);

  uint64_t row_size() const { return shape_.n / 2 + 1; }

  ThreadPool& pool_;
  ThreadScratch& scratch_;
  const FftShape shape_;
  const Numbers<const T> from_;
  const Numbers<T> to_;
  const uint64_t members_;  // of the batch that are transformed at a time
  T* const workspace_;
  const FftKernels<T>& kernels_;
  FftRows<T> rows_;
  std::vector<FftColumns<T>> columns_;  // along m, then along k
  T scale_;
  uint32_t active_;
};

extern template class FftTransform<float>;
extern template class FftTransform<double>;

}  // namespace sgd::cpu
