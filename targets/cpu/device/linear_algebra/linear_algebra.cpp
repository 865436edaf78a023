// The thunk: addresses of each matrix's tensors, and the split of matrices over threads.
#include "targets/cpu/device/linear_algebra/linear_algebra.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/artifact/element_type.h"
#include "runtime/artifact/reader.h"
#include "runtime/linear_algebra/form.h"
#include "targets/cpu/device/linear_algebra/complex_matrix_call.h"
#include "targets/cpu/device/linear_algebra/matrix_call.h"

namespace sgd::cpu {
namespace {

using linear_algebra::Form;

// Floating-point operations in about ten microseconds, below which handing work to another thread does not pay.
constexpr uint64_t kFlopsPerThread = 50000;
// Cost of a call of a library routine beside its flops.
constexpr uint64_t kCallFlops = 1000;

// A tensor of the batch: where it begins, and how far matrices are apart.
struct Batched {
  std::byte* base;
  uint64_t stride;
};

Form FormOf(const artifact::LinearAlgebra& call) {
  return {static_cast<linear_algebra::Kind>(call.kind()), call.options(), call.m(), call.n(), call.k()};
}

// `Call` is MatrixCall<T> or ComplexMatrixCall<T>.
template <typename T, typename Call>
class LinearAlgebraThunk final : public device::Thunk {
 public:
  LinearAlgebraThunk(ThreadPool& pool, const LapackLibrary& library, const Call& matrix_call,
                     const artifact::LinearAlgebra& call, const device::MemoryMap& memory)
      : pool_(pool),
        call_(matrix_call),
        batch_(call.batch()),
        lanes_(call.lanes()),
        inputs_(Resolve(*call.inputs(), linear_algebra::InputsOf(call_.form()), memory)),
        outputs_(Resolve(*call.outputs(), linear_algebra::OutputsOf(call_.form()), memory)),
        lane_bytes_(linear_algebra::WorkspaceOf(call_.form()).Bytes(sizeof(T))),
        workspace_(lane_bytes_ == 0 ? nullptr : memory.Address(*call.workspace())) {
    const uint64_t flops = batch_ * (linear_algebra::FlopsOf(call_.form()) + kCallFlops);
    const uint64_t threads = library.is_concurrent() ? std::min<uint64_t>(pool.size(), lanes_) : 1;
    active_ = static_cast<uint32_t>(std::clamp<uint64_t>(flops / kFlopsPerThread, 1, threads));
  }

  absl::Status Execute() override {
    if (batch_ == 0) return absl::OkStatus();
    pool_.Run(active_, static_cast<uint32_t>(lanes_), [&](uint32_t lane, uint32_t) { RunLane(lane); });
    return absl::OkStatus();
  }

 private:
  static std::vector<Batched> Resolve(const flatbuffers::Vector<const artifact::Slice*>& slices,
                                      const std::vector<linear_algebra::Tensor>& tensors,
                                      const device::MemoryMap& memory) {
    std::vector<Batched> resolved;
    for (uint32_t i = 0; i < tensors.size(); ++i) {
      const uint64_t bytes = tensors[i].is_integer ? sizeof(int32_t) : sizeof(T);
      resolved.push_back({memory.Address(*slices.Get(i)), tensors[i].Elements() * bytes});
    }
    return resolved;
  }

  void RunLane(uint32_t lane) const {
    MatrixTensors<T> tensors;
    tensors.workspace = workspace_ + lane * lane_bytes_;
    const IndexRange part = PartOf(batch_, lanes_, lane);
    for (uint64_t matrix = part.begin; matrix < part.end; ++matrix) {
      for (size_t i = 0; i < inputs_.size(); ++i) tensors.inputs[i] = inputs_[i].base + matrix * inputs_[i].stride;
      for (size_t i = 0; i < outputs_.size(); ++i) tensors.outputs[i] = outputs_[i].base + matrix * outputs_[i].stride;
      call_.Run(tensors);
    }
  }

  ThreadPool& pool_;
  const Call call_;
  const uint64_t batch_, lanes_;
  const std::vector<Batched> inputs_, outputs_;
  const uint64_t lane_bytes_;
  std::byte* const workspace_;
  uint32_t active_ = 1;
};

template <typename T>
std::unique_ptr<device::Thunk> MakeThunk(ThreadPool& pool, const LapackLibrary& library,
                                         const artifact::LinearAlgebra& call, const device::MemoryMap& memory) {
  const Form form = FormOf(call);
  if (form.Has(linear_algebra::kComplex)) {
    const ComplexMatrixCall<T> matrix_call(library.complex_routines<T>(), form);
    return std::make_unique<LinearAlgebraThunk<T, ComplexMatrixCall<T>>>(pool, library, matrix_call, call, memory);
  }
  const MatrixCall<T> matrix_call(library.routines<T>(), form);
  return std::make_unique<LinearAlgebraThunk<T, MatrixCall<T>>>(pool, library, matrix_call, call, memory);
}

}  // namespace

device::PreparedThunk MakeLinearAlgebra(ThreadPool& pool, const LapackLibrary& library,
                                        const artifact::LinearAlgebra& call, const device::MemoryMap& memory) {
  if (call.lanes() > ThreadPool::kMaxChunks) return absl::UnimplementedError("linear algebra of more than 65535 lanes");
  if (call.element() == artifact::ElementType::F64) return MakeThunk<double>(pool, library, call, memory);
  return MakeThunk<float>(pool, library, call, memory);
}

}  // namespace sgd::cpu
