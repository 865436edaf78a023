// Compiled clusters against the reference evaluator, over shapes, element types, cuts of the range and in-place choices.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/targets/cpu/codegen/reference.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;

namespace {

bool sameBytes(const std::vector<Tensor> &left, const std::vector<Tensor> &right) {
  for (auto [a, b] : llvm::zip_equal(left, right))
    if (a.bytes != b.bytes) return false;
  return true;
}

void expectClose(const std::vector<Tensor> &actual, const std::vector<Tensor> &expected, double tolerance) {
  for (auto [number, pair] : llvm::enumerate(llvm::zip_equal(actual, expected))) {
    auto &[a, e] = pair;
    double scale = 0;
    for (int64_t i = 0; i < e.size(); ++i)
      if (std::isfinite(e.get(i))) scale = std::max(scale, std::fabs(e.get(i)));
    for (int64_t i = 0; i < e.size(); ++i) {
      double x = a.get(i), y = e.get(i);
      bool same = isa<FloatType>(e.type.getElementType()) ? (std::isnan(x) && std::isnan(y)) || x == y || std::fabs(x - y) <= tolerance * std::max(scale, 1e-30) : x == y;
      ASSERT_TRUE(same) << "result " << number << " element " << i << ": " << x << ", expected " << y;
    }
  }
}

/// Runs whole, cut at every grain, and on another CPU level; all must agree, and be near the reference.
void check(const std::string &text, double tolerance = 2e-6, std::function<void(std::vector<Tensor> &)> prepare = {}) {
  SCOPED_TRACE(text);
  for (StringRef cpu : {"native", "x86-64-v3"}) {
    KernelRunner runner(text, cpu);
    ASSERT_TRUE(runner.ok());
    std::vector<Tensor> inputs = runner.makeInputs();
    if (prepare) prepare(inputs);
    std::vector<Tensor> whole = runner.run(inputs);
    expectClose(whole, evaluate(runner.cluster(), inputs), tolerance);
    if (testing::Test::HasFatalFailure()) return;
    std::vector<int64_t> cuts;
    for (int64_t at = 0; at < runner.interface().range; at += std::max<int64_t>(1, runner.interface().range / 7)) cuts.push_back(at);
    cuts.push_back(runner.interface().range);
    EXPECT_TRUE(sameBytes(whole, runner.run(inputs, cuts))) << "cutting the range changes bits";
    for (InPlacePair pair : runner.interface().inPlaceCandidates) {
      KernelRunner overwriting(text, cpu, {pair});
      ASSERT_TRUE(overwriting.ok());
      EXPECT_TRUE(sameBytes(whole, overwriting.run(inputs))) << "result " << pair.first << " in place of operand " << pair.second;
    }
  }
}

std::string cluster(const std::string &operands, const std::string &results, const std::string &arguments, const std::string &body) {
  std::string parameters, values;
  SmallVector<StringRef> types;
  StringRef(operands).split(types, "; ");
  for (auto [number, type] : llvm::enumerate(types)) {
    if (type.empty()) continue;
    parameters += (number ? ", %in" : "%in") + std::to_string(number) + ": " + type.str();
    values += (number ? ", %in" : "%in") + std::to_string(number);
  }
  std::string operandTypes = operands, resultTypes = results;
  for (std::string *list : {&operandTypes, &resultTypes})
    for (size_t at; (at = list->find("; ")) != std::string::npos;) list->replace(at, 2, ", ");
  return "func.func @f(" + parameters + ") {\n sgd.cluster (" + values + ") {\n^bb0(" + arguments + "):\n" + body + "\n} : (" + operandTypes + ") -> (" + resultTypes + ")\n return\n}\n";
}

std::string shape(std::initializer_list<int> dims, const std::string &type) {
  std::string text = "tensor<";
  for (int dim : dims) text += std::to_string(dim) + "x";
  return text + type + ">";
}

TEST(Elementwise, BiasAndGelu) {
  for (auto [rows, columns] : {std::pair{1, 1}, {3, 7}, {5, 17}, {4, 33}, {2, 64}, {9, 384}, {70, 100}}) {
    std::string matrix = shape({rows, columns}, "f32"), bias = shape({columns}, "f32");
    check(cluster(matrix + "; " + matrix + "; " + bias, matrix, "%x: " + matrix + ", %w: " + matrix + ", %b: " + bias,
                  "%0 = sgd.broadcast_in_dim %b dims = [1] : " + bias + " -> " + matrix + "\n%1 = arith.mulf %x, %w : " + matrix + "\n%2 = arith.addf %1, %0 : " + matrix +
                      "\n%3 = math.tanh %2 : " + matrix + "\n%4 = arith.mulf %3, %2 : " + matrix + "\nsgd.yield %4 : " + matrix));
    if (HasFatalFailure()) return;
  }
}

TEST(Elementwise, Flat) {
  for (int size : {1, 3, 7, 17, 33, 511, 512, 513, 5000}) {
    std::string type = shape({size}, "f32");
    check(cluster(type + "; " + type, type, "%x: " + type + ", %y: " + type, "%0 = arith.subf %x, %y : " + type + "\n%1 = arith.divf %0, %y : " + type + "\nsgd.yield %1 : " + type));
    if (HasFatalFailure()) return;
  }
}

TEST(Reduce, Rows) {
  for (auto [rows, columns] : {std::pair{1, 1}, {3, 7}, {5, 17}, {4, 33}, {2, 64}, {9, 384}, {3, 1000}, {6, 1}}) {
    std::string matrix = shape({rows, columns}, "f32"), row = shape({rows}, "f32");
    check(cluster(matrix, row + "; " + row, "%x: " + matrix,
                  "%0 = sgd.reduce add %x dimensions = [1] : " + matrix + " -> " + row + "\n%1 = sgd.reduce max %x dimensions = [1] : " + matrix + " -> " + row + "\nsgd.yield %0, %1 : " + row +
                      ", " + row));
    if (HasFatalFailure()) return;
  }
}

TEST(Reduce, Columns) {
  for (auto [rows, columns] : {std::pair{3, 7}, {17, 5}, {4, 33}, {50, 64}, {33, 130}, {9, 384}}) {
    std::string matrix = shape({rows, columns}, "f32"), row = shape({columns}, "f32");
    check(cluster(matrix + "; " + matrix, row + "; " + row, "%x: " + matrix + ", %y: " + matrix,
                  "%0 = sgd.reduce add %x dimensions = [0] : " + matrix + " -> " + row + "\n%p = arith.mulf %x, %y : " + matrix + "\n%1 = sgd.reduce add %p dimensions = [0] : " + matrix + " -> " + row +
                      "\nsgd.yield %0, %1 : " + row + ", " + row));
    if (HasFatalFailure()) return;
  }
}

TEST(Reduce, Softmax) {
  for (auto [rows, columns] : {std::pair{3, 7}, {17, 10}, {4, 33}, {5, 64}, {3, 130}, {2, 1000}}) {
    std::string matrix = shape({rows, columns}, "f32"), row = shape({rows}, "f32");
    check(cluster(matrix, matrix + "; " + row, "%x: " + matrix,
                  "%m = sgd.reduce max %x dimensions = [1] : " + matrix + " -> " + row + "\n%mb = sgd.broadcast_in_dim %m dims = [0] : " + row + " -> " + matrix + "\n%c = arith.subf %x, %mb : " + matrix +
                      "\n%e = math.exp %c : " + matrix + "\n%s = sgd.reduce add %e dimensions = [1] : " + matrix + " -> " + row + "\n%sb = sgd.broadcast_in_dim %s dims = [0] : " + row + " -> " + matrix +
                      "\n%r = arith.divf %e, %sb : " + matrix + "\nsgd.yield %r, %s : " + matrix + ", " + row));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
