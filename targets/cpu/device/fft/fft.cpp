// The thunk: addresses of the parts of operand and result.
#include "targets/cpu/device/fft/fft.h"

#include <utility>

#include "runtime/artifact/reader.h"
#include "runtime/linear_algebra/form.h"
#include "targets/cpu/device/fft/fft_transform.h"

namespace sgd::cpu {
namespace {

using linear_algebra::Form;
using linear_algebra::Kind;

static_assert(linear_algebra::kMostRowOfThread == kMostRowNumbers);

FftKind KindOf(Kind kind) {
  if (kind == Kind::kRealFft) return FftKind::kFromReal;
  return kind == Kind::kInverseRealFft ? FftKind::kToReal : FftKind::kComplex;
}

// Reals, the two parts of numbers, or pairs of them.
template <typename T>
Numbers<T> Resolve(const flatbuffers::Vector<const artifact::Slice*>& slices, bool is_paired,
                   const device::MemoryMap& memory) {
  T* first = reinterpret_cast<T*>(memory.Address(*slices.Get(0)));
  if (is_paired) return {first, first + 1, 2};
  return {first, slices.size() == 1 ? nullptr : reinterpret_cast<T*>(memory.Address(*slices.Get(1))), 1};
}

template <typename T>
class FftThunk final : public device::Thunk {
 public:
  FftThunk(ThreadPool& pool, ThreadScratch& scratch, const artifact::LinearAlgebra& call,
           const device::MemoryMap& memory)
      : transform_(pool, scratch, ShapeOf(call), OperandOf(call, memory),
                   Resolve<T>(*call.outputs(), (call.options() & linear_algebra::kPairedResult) != 0, memory),
                   call.lanes(),
                   call.workspace() == nullptr ? nullptr : reinterpret_cast<T*>(memory.Address(*call.workspace()))) {}

  absl::Status Reserve() { return transform_.Reserve(); }

  absl::Status Execute() override {
    transform_.Run();
    return absl::OkStatus();
  }

 private:
  static FftShape ShapeOf(const artifact::LinearAlgebra& call) {
    const auto kind = static_cast<Kind>(call.kind());
    const bool is_inverse = kind == Kind::kInverseRealFft || (call.options() & linear_algebra::kInverse) != 0;
    return {KindOf(kind), is_inverse, call.batch(), call.k(), call.m(), call.n()};
  }

  static Numbers<const T> OperandOf(const artifact::LinearAlgebra& call, const device::MemoryMap& memory) {
    const Numbers<T> operand =
        Resolve<T>(*call.inputs(), (call.options() & linear_algebra::kPairedOperand) != 0, memory);
    return {operand.re, operand.im, operand.step};
  }

  FftTransform<T> transform_;
};

template <typename T>
device::PreparedThunk MakeThunk(ThreadPool& pool, ThreadScratch& scratch, const artifact::LinearAlgebra& call,
                                const device::MemoryMap& memory) {
  auto thunk = std::make_unique<FftThunk<T>>(pool, scratch, call, memory);
  if (absl::Status status = thunk->Reserve(); !status.ok()) return status;
  return thunk;
}

}  // namespace

device::PreparedThunk MakeFft(ThreadPool& pool, ThreadScratch& scratch, const artifact::LinearAlgebra& call,
                              const device::MemoryMap& memory) {
  if (call.element() == artifact::ElementType::F64) return MakeThunk<double>(pool, scratch, call, memory);
  return MakeThunk<float>(pool, scratch, call, memory);
}

}  // namespace sgd::cpu
