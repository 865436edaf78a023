// Programs with attention compute the same before and after sgd-match-attention, and the pass takes those that it
// should: forms of scores, of softmax and of its gradient, by value.
#include <gtest/gtest.h>

#include "dialects/fusion/attention.h"
#include "dialects/spmd/spmd_dialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/kernels/library/passes.h"
#include "tests/passes/kernels/sampled_evaluation.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The form of a program; sizes are queries, keys, depth and depth of values.
struct Form {
  int batch = 2, heads = 3, rows = 5, columns = 7, depth = 4, valueDepth = 6;
  std::string scale = "divf";  // mulf, divf, or none
  bool isCausal = false, hasBias = false, hasPadding = false, hidesWhereTrue = false;
  std::string fill = "-1.000000e+09";
  bool isClosedForm = false;  // the gradient as y * (g - sum(y * g))
  bool sharesKeys = false;    // heads share keys and values
  bool returnsWeights = false, otherValue = false;
};

std::string tensor(std::initializer_list<int> sizes, const char* element = "f32") {
  std::string text = "tensor<";
  for (int size : sizes) text += std::to_string(size) + "x";
  return text + element + ">";
}

class Writer {
 public:
  explicit Writer(const Form& form) : f(form) {}

  std::string write() {
    std::string key =
        f.sharesKeys ? tensor({f.batch, f.columns, f.depth}) : tensor({f.batch, f.columns, f.heads, f.depth});
    std::string value =
        f.sharesKeys ? tensor({f.batch, f.columns, f.valueDepth}) : tensor({f.batch, f.columns, f.heads, f.valueDepth});
    std::string query = tensor({f.batch, f.rows, f.heads, f.depth}),
                out = tensor({f.batch, f.rows, f.heads, f.valueDepth});
    writeScores(query, key);
    writeWeights();
    std::string keyLabels = f.sharesKeys ? "[0, 3, " : "[0, 3, 2, ";
    line("%out = fusion.matmul %p [0, 2, 1, 3], %v " + keyLabels + "5] into [0, 1, 2, 5] : " + s() + ", " + value +
         " -> " + out);
    line("%dv = fusion.matmul %do [0, 1, 2, 5], %p [0, 2, 1, 3] into " + keyLabels + "5] : " + out + ", " + s() +
         " -> " + value);
    line(std::string("%g = fusion.matmul %do [0, 1, 2, 5], ") + (f.otherValue ? "%w " : "%v ") + keyLabels +
         "5] into [0, 2, 1, 3] : " + out + ", " + value + " -> " + s());
    writeGradient();
    line("%dq = fusion.matmul %ds [0, 2, 1, 3], %k " + keyLabels + "4] into [0, 1, 2, 4] : " + s() + ", " + key +
         " -> " + query);
    line("%dk = fusion.matmul %ds [0, 2, 1, 3], %q [0, 1, 2, 4] into " + keyLabels + "4] : " + s() + ", " + query +
         " -> " + key);
    std::string results = "%out, %dq, %dk, %dv", types = out + ", " + query + ", " + key + ", " + value;
    if (f.returnsWeights) results += ", %p", types += ", " + s();
    return "func.func @main(%q: " + query + ", %k: " + key + ", %v: " + value + ", %do: " + out +
           ", %b: " + tensor({f.heads, f.rows, f.columns}) + ", %pad: " + tensor({f.batch, f.columns}, "i1") +
           ", %w: " + value + ") -> (" + types + ") {\n" + text + "return " + results + " : " + types + "\n}\n";
  }

 private:
  void line(const std::string& next) { text += next + "\n"; }
  std::string s(const char* element = "f32") const { return tensor({f.batch, f.heads, f.rows, f.columns}, element); }
  std::string row() const { return tensor({f.batch, f.heads, f.rows}); }
  std::string rowColumn() const { return tensor({f.batch, f.heads, f.rows, 1}); }

  /// `name`, f32 by row, as a tensor of scores.
  void spread(const std::string& to, const std::string& from) {
    line(to + "1 = sgd.broadcast_in_dim " + from + " dims = [0, 1, 2] : " + row() + " -> " + rowColumn());
    line(to + " = sgd.broadcast_in_dim " + to + "1 dims = [0, 1, 2, 3] : " + rowColumn() + " -> " + s());
  }
  void sumRows(const std::string& to, const std::string& from) {
    line(to + " = sgd.reduce add " + from + " dimensions = [3] : " + s() + " -> " + row());
  }

  void writeScores(const std::string& query, const std::string& key) {
    line(std::string("%s0 = fusion.matmul %q [0, 1, 2, 4], %k ") + (f.sharesKeys ? "[0, 3, 4]" : "[0, 3, 2, 4]") +
         " into [0, 2, 1, 3] : " + query + ", " + key + " -> " + s());
    line("%factor = arith.constant dense<2.0> : " + s());
    line("%zero = arith.constant dense<0.0> : " + s());
    line("%fill = arith.constant dense<" + f.fill + "> : " + s());
    line("%one = arith.constant dense<1.0> : " + rowColumn());
    scores = "%s0";
    if (f.scale != "none") line("%s1 = arith." + f.scale + " %s0, %factor : " + s()), scores = "%s1";
    if (f.hasBias) {
      line("%bias = sgd.broadcast_in_dim %b dims = [1, 2, 3] : " + tensor({f.heads, f.rows, f.columns}) + " -> " + s());
      line("%s2 = arith.addf " + scores + ", %bias : " + s());
      scores = "%s2";
    }
    writeMask();
  }

  void writeMask() {
    std::string square = tensor({f.rows, f.columns}, "i32"), squareMask = tensor({f.rows, f.columns}, "i1");
    if (f.isCausal) {
      line("%i = sgd.iota dimension = 0 : " + square);
      line("%j = sgd.iota dimension = 1 : " + square);
      line(std::string("%c = arith.cmpi ") + (f.hidesWhereTrue ? "slt" : "sge") + ", %i, %j : " + square);
      line("%mask = sgd.broadcast_in_dim %c dims = [2, 3] : " + squareMask + " -> " + s("i1"));
    } else if (f.hasPadding) {
      std::string thin = tensor({f.batch, 1, 1, f.columns}, "i1");
      line("%thin = sgd.broadcast_in_dim %pad dims = [0, 3] : " + tensor({f.batch, f.columns}, "i1") + " -> " + thin);
      line("%mask = sgd.broadcast_in_dim %thin dims = [0, 1, 2, 3] : " + thin + " -> " + s("i1"));
    } else {
      return;
    }
    line("%s3 = arith.select %mask, " + (f.hidesWhereTrue ? "%fill, " + scores : scores + ", %fill") + " : " + s("i1") +
         ", " + s());
    scores = "%s3";
  }

  void writeWeights() {
    line("%m = sgd.reduce max " + scores + " dimensions = [3] : " + s() + " -> " + row());
    spread("%mb", "%m");
    line("%d = arith.subf " + scores + ", %mb : " + s());
    line("%e = math.exp %d : " + s());
    sumRows("%l", "%e");
    spread("%lb", "%l");
    line("%p = arith.divf %e, %lb : " + s());
  }

  void writeGradient() {
    f.isClosedForm ? writeClosedForm() : writeDifferentiated();
    std::string gradient = "%y";
    if (f.isCausal || f.hasPadding) {
      line(std::string("%y2 = arith.select %mask, ") + (f.hidesWhereTrue ? "%zero, %y" : "%y, %zero") + " : " +
           s("i1") + ", " + s());
      gradient = "%y2";
    }
    if (f.scale == "none")
      line("%ds = arith.subf " + gradient + ", %zero : " + s());
    else
      line("%ds = arith." + f.scale + " " + gradient + ", %factor : " + s());
  }

  void writeClosedForm() {
    line("%pg = arith.mulf %p, %g : " + s());
    sumRows("%t", "%pg");
    spread("%tb", "%t");
    line("%gt = arith.subf %g, %tb : " + s());
    line("%y = arith.mulf %p, %gt : " + s());
  }

  /// Writes what JAX's differentiation gives for a division.
  void writeDifferentiated() {
    line("%ll = arith.mulf %lb1, %lb1 : " + rowColumn());
    line("%li = arith.divf %one, %ll : " + rowColumn());
    line("%lib = sgd.broadcast_in_dim %li dims = [0, 1, 2, 3] : " + rowColumn() + " -> " + s());
    line("%gl = arith.divf %g, %lb : " + s());
    line("%g1 = arith.mulf %g, %lib : " + s());
    line("%g2 = arith.mulf %g1, %e : " + s());
    sumRows("%t", "%g2");
    line("%t1 = sgd.reshape %t : " + row() + " -> " + rowColumn());
    line("%t2 = arith.negf %t1 : " + rowColumn());
    line("%t3 = sgd.reduce add %t2 dimensions = [3] : " + rowColumn() + " -> " + row());
    line("%t4 = sgd.broadcast_in_dim %t3 dims = [0, 1, 2] : " + row() + " -> " + s());
    line("%gt = arith.addf %gl, %t4 : " + s());
    line("%y = arith.mulf %gt, %e : " + s());
  }

  const Form& f;
  std::string text, scores;
};

class Attention : public testing::Test {
 protected:
  Attention() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<SgdDialect, fusion::FusionDialect, spmd::SpmdDialect, func::FuncDialect, arith::ArithDialect,
                        math::MathDialect>();
  }

  /// Runs the pass; whether nothing of the scores is left.
  bool isFused(const Form& form) {
    std::string text = Writer(form).write();
    SCOPED_TRACE(text);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    if (!module) return false;
    std::vector<reference::Tensor> before = evaluateOnSamples(*module, /*scale=*/2);
    PassManager passes(&context);
    passes.addNestedPass<func::FuncOp>(createMatchAttentionPass());
    EXPECT_TRUE(succeeded(passes.run(*module)));
    std::vector<reference::Tensor> after = evaluateOnSamples(*module, /*scale=*/2);
    for (auto [number, pair] : llvm::enumerate(llvm::zip_equal(before, after))) {
      auto& [expected, actual] = pair;
      for (int64_t at = 0; at < expected.size(); ++at)
        EXPECT_NEAR(actual.floats[at], expected.floats[at], 2e-5) << "result " << number << ", element " << at;
    }
    int fused = 0, exponentials = 0;
    module->walk([&](fusion::AttentionOpInterface op) { ++fused, last = op->getAttrDictionary(); });
    module->walk([&](math::ExpOp) { ++exponentials; });
    EXPECT_TRUE((fused == 3 && exponentials == 0) || (fused == 0 && exponentials == 1));
    return fused == 3;
  }

  MLIRContext context;
  DictionaryAttr last;  // attributes of the last attention op
};

TEST_F(Attention, FormsOfScores) {
  for (const char* scale : {"none", "mulf", "divf"})
    for (bool isClosedForm : {false, true}) {
      Form form;
      form.scale = scale;
      form.isClosedForm = isClosedForm;
      EXPECT_TRUE(isFused(form));
    }
}

TEST_F(Attention, Masks) {
  for (bool hidesWhereTrue : {false, true}) {
    Form form;
    form.hidesWhereTrue = hidesWhereTrue;
    form.isCausal = true;
    EXPECT_TRUE(isFused(form));
    EXPECT_TRUE(last.get("diagonal"));
    form.fill = "-3.000000e+00";  // hidden columns count
    EXPECT_TRUE(isFused(form));
    EXPECT_FALSE(last.get("diagonal"));
    EXPECT_TRUE(last.get("mask_labels"));
    form.isCausal = false;
    form.hasPadding = true;
    EXPECT_TRUE(isFused(form));
    EXPECT_EQ(cast<DenseI64ArrayAttr>(last.get("mask_labels")).asArrayRef(), ArrayRef<int64_t>({4, 1}));
  }
}

TEST_F(Attention, Biases) {
  Form form;
  form.hasBias = true;
  form.scale = "none";
  EXPECT_TRUE(isFused(form));
  form.scale = "mulf";
  form.isCausal = true;
  EXPECT_TRUE(isFused(form));
  EXPECT_EQ(cast<DenseI64ArrayAttr>(last.get("bias_labels")).asArrayRef(), ArrayRef<int64_t>({5, 0, 1}));
}

TEST_F(Attention, Sizes) {
  for (auto [batch, heads, rows, columns] : {std::tuple{1, 1, 1, 3}, {1, 3, 2, 2}, {2, 1, 5, 4}, {3, 1, 4, 9}}) {
    Form form;
    form.batch = batch, form.heads = heads, form.rows = rows, form.columns = columns;
    EXPECT_TRUE(isFused(form));
    form.isClosedForm = true;
    form.sharesKeys = rows > 1;
    EXPECT_TRUE(isFused(form));
  }
}

TEST_F(Attention, SharedKeys) {
  Form form;
  form.sharesKeys = true;
  EXPECT_TRUE(isFused(form));
  form.isCausal = true;
  EXPECT_TRUE(isFused(form));
}

TEST_F(Attention, WhatStays) {
  Form form;
  form.returnsWeights = true;
  EXPECT_FALSE(isFused(form));
  form.returnsWeights = false;
  form.otherValue = true;
  EXPECT_FALSE(isFused(form));
  form.otherValue = false;
  form.depth = 300;
  EXPECT_FALSE(isFused(form));
}

}  // namespace
