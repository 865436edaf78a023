// Runs clusters in every way that must not change their bits.
#include "tests/targets/kernels/kernel_check.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/targets/kernels/reference.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

static bool sameBytes(const std::vector<Tensor>& left, const std::vector<Tensor>& right) {
  for (auto [a, b] : llvm::zip_equal(left, right))
    if (a.bytes != b.bytes) return false;
  return true;
}

void mlir::sgd::kernels::expectClose(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected,
                                     double tolerance) {
  for (auto [number, pair] : llvm::enumerate(llvm::zip_equal(actual, expected))) {
    auto& [a, e] = pair;
    double scale = 0;
    for (int64_t i = 0; i < e.size(); ++i)
      if (std::isfinite(e.get(i))) scale = std::max(scale, std::fabs(e.get(i)));
    for (int64_t i = 0; i < e.size(); ++i) {
      double x = a.get(i), y = e.get(i);
      bool same = isa<FloatType>(e.type.getElementType()) ? (std::isnan(x) && std::isnan(y)) || x == y ||
                                                                std::fabs(x - y) <= tolerance * std::max(scale, 1e-30)
                                                          : x == y;
      ASSERT_TRUE(same) << "result " << number << " element " << i << ": " << x << ", expected " << y;
    }
  }
}

void mlir::sgd::kernels::check(const std::string& text, double tolerance,
                               std::function<void(std::vector<Tensor>&)> prepare) {
  SCOPED_TRACE(text);
  for (const std::string& variant : CompiledKernels::variants()) {
    KernelRunner runner(text, variant);
    ASSERT_TRUE(runner.ok());
    std::vector<Tensor> inputs = runner.makeInputs();
    if (prepare) prepare(inputs);
    std::vector<Tensor> whole = runner.run(inputs);
    expectClose(whole, evaluate(runner.cluster(), inputs), tolerance);
    if (testing::Test::HasFatalFailure()) return;
    std::vector<int64_t> cuts;
    for (int64_t at = 0; at < runner.interface().range; at += std::max<int64_t>(1, runner.interface().range / 7))
      cuts.push_back(at);
    cuts.push_back(runner.interface().range);
    EXPECT_TRUE(sameBytes(whole, runner.run(inputs, cuts))) << "cutting the range changes bits";
    for (InPlacePair pair : runner.interface().inPlaceCandidates) {
      KernelRunner overwriting(text, variant, {pair});
      ASSERT_TRUE(overwriting.ok());
      EXPECT_TRUE(sameBytes(whole, overwriting.run(inputs)))
          << "result " << pair.first << " in place of operand " << pair.second;
    }
  }
}

std::string mlir::sgd::kernels::cluster(const std::string& operands, const std::string& results,
                                        const std::string& arguments, const std::string& body) {
  std::string parameters, values;
  SmallVector<StringRef> types;
  StringRef(operands).split(types, "; ");
  for (auto [number, type] : llvm::enumerate(types)) {
    if (type.empty()) continue;
    parameters += (number ? ", %in" : "%in") + std::to_string(number) + ": " + type.str();
    values += (number ? ", %in" : "%in") + std::to_string(number);
  }
  std::string operandTypes = operands, resultTypes = results;
  for (std::string* list : {&operandTypes, &resultTypes})
    for (size_t at; (at = list->find("; ")) != std::string::npos;) list->replace(at, 2, ", ");
  return "func.func @f(" + parameters + ") {\n fusion.cluster (" + values + ") {\n^bb0(" + arguments + "):\n" + body +
         "\n} : (" + operandTypes + ") -> (" + resultTypes + ")\n return\n}\n";
}

std::string mlir::sgd::kernels::shape(std::initializer_list<int> dims, const std::string& type) {
  std::string text = "tensor<";
  for (int dim : dims) text += std::to_string(dim) + "x";
  return text + type + ">";
}
