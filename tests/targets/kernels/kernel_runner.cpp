// Runs compiled clusters inside the test process.
#include "tests/targets/kernels/kernel_runner.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/spmd/spmd_dialect.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

std::unique_ptr<MLIRContext> mlir::sgd::kernels::makeContext() {
  auto context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<SgdDialect, fusion::FusionDialect, spmd::SpmdDialect, func::FuncDialect, arith::ArithDialect,
                       math::MathDialect>();
  return context;
}

static int64_t elementBytes(Type type) { return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8); }

Tensor::Tensor(RankedTensorType type)
    : type(type), bytes(type.getNumElements() * elementBytes(type.getElementType())) {}

static const llvm::fltSemantics& semantics(Type type) { return cast<FloatType>(type).getFloatSemantics(); }

int64_t Tensor::getInteger(int64_t index) const {
  int64_t width = elementBytes(type.getElementType()), bits = 0;
  memcpy(&bits, bytes.data() + index * width, width);
  return type.getElementType().isInteger(1) ? bits : llvm::SignExtend64(bits, width * 8);
}

void Tensor::setInteger(int64_t index, int64_t value) {
  int64_t width = elementBytes(type.getElementType());
  memcpy(bytes.data() + index * width, &value, width);
}

double Tensor::get(int64_t index) const {
  Type element = type.getElementType();
  if (!isa<FloatType>(element)) return getInteger(index);
  APFloat value(semantics(element),
                APInt(element.getIntOrFloatBitWidth(), static_cast<uint64_t>(getInteger(index)), false, true));
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

void Tensor::set(int64_t index, double value) {
  Type element = type.getElementType();
  if (!isa<FloatType>(element)) return setInteger(index, static_cast<int64_t>(value));
  APFloat number(value);
  bool losesInfo;
  number.convert(semantics(element), APFloat::rmNearestTiesToEven, &losesInfo);
  setInteger(index, number.bitcastToAPInt().getZExtValue());
}

void Tensor::fill(double low, double high, unsigned seed) {
  uint64_t state = seed * 0x9E3779B97F4A7C15ull + 1;
  for (int64_t index = 0; index < size(); ++index) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    set(index, low + (high - low) * static_cast<double>(state >> 11) / 9007199254740992.0);
  }
}

KernelRunner::KernelRunner(StringRef text, StringRef variant, ArrayRef<InPlacePair> pairs)
    : context(makeContext()), inPlace(pairs.begin(), pairs.end()) {
  module = parseSourceString<ModuleOp>(text, context.get());
  if (!module) return;
  module->walk([&](fusion::ClusterOp op) { body = op; });
  for (unsigned result = 0; body && result < body.getNumResults(); ++result)
    if (body.getUpdate(result)) inPlace.push_back({result, body.getUpdatedInput(result)});
  FailureOr<KernelInterface> described = CompiledKernels::describe(body);
  if (failed(described)) return;
  kernel = *described;
  kernels = CompiledKernels::create(KernelRequest{body, "kernel", llvm::to_vector(inPlace)}, variant);
}

std::vector<Tensor> KernelRunner::makeInputs() const {
  std::vector<Tensor> inputs;
  fusion::ClusterOp op = body;
  for (auto [number, value] : llvm::enumerate(op->getOperands())) {
    inputs.emplace_back(cast<RankedTensorType>(value.getType()));
    inputs.back().fill(-2, 2, number + 1);
  }
  return inputs;
}

/// Buffers at the end of a page that is followed by an unreadable one: reading or writing beyond the end is noticed.
namespace {
class GuardedBuffer {
 public:
  explicit GuardedBuffer(size_t size) : size(size), mapped(llvm::alignTo(size + 64, 4096) + 4096) {
    base = static_cast<char*>(mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base + mapped - 4096, 4096, PROT_NONE);
  }
  ~GuardedBuffer() { munmap(base, mapped); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  // As near to the end as the alignment of buffers allows.
  char* data() const { return base + mapped - 4096 - llvm::alignTo(size, 64); }

 private:
  size_t size, mapped;
  char* base;
};
}  // namespace

std::vector<Tensor> KernelRunner::run(std::vector<Tensor> inputs, std::vector<int64_t> cuts,
                                      std::vector<int64_t> coordinates) const {
  std::vector<std::unique_ptr<GuardedBuffer>> storage;
  std::vector<void*> buffers;
  auto add = [&](size_t size) {
    storage.push_back(std::make_unique<GuardedBuffer>(size));
    buffers.push_back(storage.back()->data());
    return storage.back()->data();
  };
  fusion::ClusterOp op = body;
  for (auto [number, input] : llvm::enumerate(inputs))
    if (llvm::none_of(inPlace, [&](InPlacePair pair) { return pair.second == number; }))
      memcpy(add(input.bytes.size()), input.bytes.data(), input.bytes.size());
  std::vector<Tensor> results;
  std::vector<char*> outputs;
  for (auto [number, value] : llvm::enumerate(op->getResults())) {
    results.emplace_back(cast<RankedTensorType>(value.getType()));
    outputs.push_back(add(results.back().bytes.size()));
    memset(outputs.back(), 0xAB, results.back().bytes.size());
    for (InPlacePair pair : inPlace)
      if (pair.first == number) memcpy(outputs.back(), inputs[pair.second].bytes.data(), results.back().bytes.size());
  }
  coordinates.resize(kernel.coordinates.size());
  if (cuts.empty()) cuts = {0, kernel.range};
  for (size_t part = 0; part + 1 < cuts.size(); ++part)
    kernels->launch(0, buffers, coordinates, cuts[part], cuts[part + 1]);
  for (auto [result, output] : llvm::zip(results, outputs)) memcpy(result.bytes.data(), output, result.bytes.size());
  return results;
}
