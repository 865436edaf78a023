// Random tensor programs: every cluster that sgd-fuse-clusters makes of them can be compiled, and together they compute
// the program.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "dialects/fusion/fusion_dialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/kernels/clusters/passes.h"
#include "tests/targets/kernels/kernel_runner.h"
#include "tests/targets/kernels/reference.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

namespace {

using Shape = std::vector<int64_t>;

/// Writes programs over tensors of a few related shapes.
class ProgramWriter {
 public:
  ProgramWriter(unsigned seed, int64_t rows, int64_t columns) : random(seed), rows(rows), columns(columns) {}

  std::string write(int ops) {
    std::string arguments;
    for (Shape shape : {Shape{rows, columns}, Shape{rows, columns}, Shape{rows}, Shape{columns}, Shape{}}) {
      arguments += (values.empty() ? "" : ", ") + ("%v" + std::to_string(values.size())) + ": " + type(shape);
      values.push_back(shape);
    }
    inputs = values.size();
    while (ops-- > 0) addOp();
    std::string returned, types;
    for (size_t value = inputs; value < values.size(); ++value) {
      if (value + 1 != values.size() && random() % 5 != 0) continue;
      returned += (returned.empty() ? "%v" : ", %v") + std::to_string(value);
      types += (types.empty() ? "" : ", ") + type(values[value]);
    }
    return "func.func @f(" + arguments + ") -> (" + types + ") {\n" + body + "return " + returned + " : " + types +
           "\n}\n";
  }

 private:
  static std::string type(const Shape& shape) {
    std::string text = "tensor<";
    for (int64_t dim : shape) text += std::to_string(dim) + "x";
    return text + "f32>";
  }
  static std::string list(const Shape& values) {
    std::string text = "[";
    for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
    return text + "]";
  }
  std::string name(size_t value) { return "%v" + std::to_string(value); }
  void emit(const std::string& op, Shape shape) {
    body += name(values.size()) + " = " + op + "\n";
    values.push_back(std::move(shape));
  }
  /// Recent values are picked more often, which makes chains.
  size_t pick() {
    return random() % 2 ? random() % values.size() : values.size() - 1 - random() % std::min<size_t>(values.size(), 4);
  }

  void addOp() {
    size_t x = pick();
    Shape shape = values[x];
    std::string in = name(x), from = type(shape);
    switch (random() % 9) {
      case 0:
        return emit("math.tanh " + in + " : " + from, shape);
      case 1:
        return emit("arith.negf " + in + " : " + from, shape);
      case 2:
      case 3:
      case 4: {
        for (int attempt = 0; attempt < 20; ++attempt) {
          size_t y = random() % values.size();
          if (values[y] == shape)
            return emit(std::string(random() % 2 ? "arith.addf " : "arith.mulf ") + in + ", " + name(y) + " : " + from,
                        shape);
        }
        return;
      }
      case 5: {
        if (shape.empty()) return;
        size_t dim = random() % shape.size();
        Shape to = shape;
        to.erase(to.begin() + dim);
        return emit(std::string("sgd.reduce ") + (random() % 2 ? "max " : "add ") + in + " dimensions = [" +
                        std::to_string(dim) + "] : " + from + " -> " + type(to),
                    to);
      }
      case 6: {
        Shape to = {rows, columns};
        if (shape.size() > 1) return;
        Shape dims;
        if (!shape.empty()) dims.push_back(shape[0] == rows ? 0 : 1);
        if (!shape.empty() && shape[0] != rows && shape[0] != columns) return;
        return emit("sgd.broadcast_in_dim " + in + " dims = " + list(dims) + " : " + from + " -> " + type(to), to);
      }
      case 7: {
        if (shape.size() != 2) return;
        Shape to = {shape[1], shape[0]};
        return emit("sgd.transpose " + in + " permutation = [1, 0] : " + from + " -> " + type(to), to);
      }
      default: {
        if (shape != Shape{rows, columns}) return;
        if (random() % 2)
          return emit("sgd.slice " + in + " starts = [1, 2] limits = [" + std::to_string(rows) + ", " +
                          std::to_string(columns) + "] strides = [1, 1] : " + from + " -> " +
                          type({rows - 1, columns - 2}),
                      {rows - 1, columns - 2});
        return emit("sgd.reshape " + in + " : " + from + " -> " + type({columns, rows}), {columns, rows});
      }
    }
  }

  std::mt19937 random;
  int64_t rows, columns;
  std::vector<Shape> values;
  size_t inputs = 0;
  std::string body;
};

/// The function's ops as one cluster, for the reference.
fusion::ClusterOp wrap(func::FuncOp function) {
  OpBuilder builder(function.getContext());
  Block& block = function.front();
  builder.setInsertionPointToStart(&block);
  auto cluster = fusion::ClusterOp::create(builder, function.getLoc(), function.getResultTypes(), block.getArguments());
  Block& inner = cluster.getBody().emplaceBlock();
  IRMapping mapping;
  for (BlockArgument argument : block.getArguments())
    mapping.map(argument, inner.addArgument(argument.getType(), argument.getLoc()));
  builder.setInsertionPointToStart(&inner);
  for (Operation& op : block.without_terminator())
    if (&op != cluster) builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands()) results.push_back(mapping.lookupOrDefault(value));
  fusion::YieldOp::create(builder, function.getLoc(), results);
  return cluster;
}

/// Runs the clusters of a function one after another.
class ProgramRunner {
 public:
  ProgramRunner(func::FuncOp function, StringRef variant) : function(function) {
    std::vector<KernelRequest> requests;
    function.walk([&](fusion::ClusterOp cluster) {
      requests.push_back({cluster, "kernel" + std::to_string(requests.size()), {}});
    });
    kernels = CompiledKernels::create(requests, variant);
  }
  bool ok() const { return kernels != nullptr; }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    DenseMap<Value, std::unique_ptr<Tensor>> known;
    for (auto [argument, input] : llvm::zip(function.getArguments(), inputs))
      known[argument] = std::make_unique<Tensor>(input);
    unsigned number = 0;
    for (Operation& op : function.front().without_terminator()) {
      for (Value result : op.getResults())
        known[result] = std::make_unique<Tensor>(cast<RankedTensorType>(result.getType()));
      if (isa<fusion::ClusterOp>(op)) {
        std::vector<void*> buffers;
        for (Value operand : op.getOperands()) buffers.push_back(known[operand]->bytes.data());
        for (Value result : op.getResults()) buffers.push_back(known[result]->bytes.data());
        kernels->launch(number++, buffers, {}, 0, CompiledKernels::describe(cast<fusion::ClusterOp>(op))->range);
      } else if (isa<ReshapeOp>(op)) {
        known[op.getResult(0)]->bytes = known[op.getOperand(0)]->bytes;
      } else {
        ADD_FAILURE() << "outside of clusters: " << op.getName().getStringRef().str();
      }
    }
    std::vector<Tensor> results;
    for (Value value : function.front().getTerminator()->getOperands()) results.push_back(*known[value]);
    return results;
  }

 private:
  func::FuncOp function;
  std::unique_ptr<CompiledKernels> kernels;
};

void checkProgram(unsigned seed, int64_t rows, int64_t columns, int ops) {
  auto context = makeContext();
  std::string text = ProgramWriter(seed, rows, columns).write(ops);
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
  auto original = parseSourceString<ModuleOp>(text, context.get()),
       clustered = parseSourceString<ModuleOp>(text, context.get());
  ASSERT_TRUE(original && clustered);
  PassManager passes(context.get());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addNestedPass<func::FuncOp>(createSplitReductionsPass());
  passes.addNestedPass<func::FuncOp>(createFuseClustersPass());
  ASSERT_TRUE(succeeded(passes.run(*clustered)));
  auto function = *clustered->getOps<func::FuncOp>().begin();
  ProgramRunner runner(function, CompiledKernels::variants()[seed % 2]);
  ASSERT_TRUE(runner.ok());
  fusion::ClusterOp reference = wrap(*original->getOps<func::FuncOp>().begin());
  std::vector<Tensor> inputs;
  for (Type input : function.getArgumentTypes()) {
    inputs.emplace_back(cast<RankedTensorType>(input));
    inputs.back().fill(-1, 1, inputs.size());
  }
  std::vector<Tensor> actual = runner.run(inputs), expected = evaluate(reference, inputs);
  for (auto [a, e] : llvm::zip_equal(actual, expected)) {
    double scale = 1e-6;
    for (int64_t i = 0; i < e.size(); ++i) scale = std::max(scale, std::fabs(e.get(i)));
    for (int64_t i = 0; i < e.size(); ++i) {
      bool bothOverflow = !std::isfinite(e.get(i)) || std::fabs(e.get(i)) > 1e30;
      ASSERT_TRUE(bothOverflow || std::fabs(a.get(i) - e.get(i)) <= 1e-3 * scale)
          << "element " << i << ": " << a.get(i) << ", expected " << e.get(i);
    }
  }
}

TEST(RandomPrograms, Small) {
  for (unsigned seed = 0; seed < 120; ++seed) {
    checkProgram(seed, 6, 40, 5 + seed % 25);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RandomPrograms, ReductionsInTwoSteps) {
  for (unsigned seed = 2000; seed < 2012; ++seed) {
    checkProgram(seed, 420, 160, 5 + seed % 20);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RandomPrograms, LargeEnoughForThreads) {
  for (unsigned seed = 1000; seed < 1030; ++seed) {
    checkProgram(seed, 130, 160, 5 + seed % 20);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
