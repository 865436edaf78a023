// Which updates slices of stacked values read, and which of them are left, without running anything.
#include "compiler/bound/stacked_slices.h"

#include "mlir/Parser/Parser.h"

namespace mlir::sgd {
namespace {

class StackedSlices : public ::testing::Test {
 protected:
  StackedSlices() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<SgdDialect, func::FuncDialect, arith::ArithDialect>();
  }

  /// A function of the stack %s and the rows %a and %b, with constants %c0 to %c9 and the unknown place %p.
  void parse(const std::string& body) {
    std::string constants;
    for (int i = -1; i < 10; ++i)
      constants += "%c" + (i < 0 ? std::string("m1") : std::to_string(i)) + " = arith.constant dense<" +
                   std::to_string(i) + "> : tensor<i32>\n";
    module = parseSourceString<ModuleOp>(
        "func.func @main(%s: tensor<4x8xf32>, %a: tensor<1x8xf32>, %b: tensor<1x8xf32>, %p: tensor<i32>) {\n" +
            constants + body + "return\n}",
        &context);
    ASSERT_TRUE(module) << body;
  }

  /// `%to` is `%from` with the row `%row` at `%place`.
  static std::string update(const std::string& to, const std::string& from, const std::string& row,
                            const std::string& place) {
    return to + " = sgd.dynamic_update_slice " + from + ", " + row + ", " + place +
           ", %c0 : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>\n";
  }

  static std::string slice(const std::string& from, const std::string& starts, const std::string& limits,
                           const std::string& type, const std::string& strides = "1, 1") {
    return "%r = sgd.slice " + from + " starts = [" + starts + "] limits = [" + limits + "] strides = [" + strides +
           "] : tensor<4x8xf32> -> " + type + "\n";
  }

  /// The tensor that the slice reads: "s", "a" or "b" for the function's arguments, "?" where that is not known.
  std::string getRead() {
    std::string read = "no slice";
    module->walk([&](SliceOp slice) {
      Value value = getSliced(slice);
      auto argument = dyn_cast_or_null<BlockArgument>(value);
      read = !value ? "?" : !argument ? "computed" : std::string(1, "sabp"[argument.getArgNumber()]);
    });
    return read;
  }

  /// The rows of the updates of which the last one's result consists, in the order given.
  std::string getLeft() {
    DynamicUpdateSliceOp last;
    module->walk([&](DynamicUpdateSliceOp update) { last = update; });
    std::string left;
    for (DynamicUpdateSliceOp update : getUpdates(last.getResult()))
      left += "sabp"[cast<BlockArgument>(update.getUpdate()).getArgNumber()];
    return left;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

const std::string kRow = "tensor<1x8xf32>";

TEST_F(StackedSlices, ASliceReadsTheUpdateOfItsPlace) {
  std::string both = update("%t", "%s", "%a", "%c1") + update("%u", "%t", "%b", "%c2");
  parse(both + slice("%u", "1, 0", "2, 8", kRow));
  EXPECT_EQ(getRead(), "a");
  parse(both + slice("%u", "2, 0", "3, 8", kRow));
  EXPECT_EQ(getRead(), "b");
  parse(both + slice("%u", "3, 0", "4, 8", kRow));
  EXPECT_EQ(getRead(), "s");  // what was there before
}

TEST_F(StackedSlices, TheLaterUpdateOfAPlaceIsRead) {
  parse(update("%t", "%s", "%a", "%c1") + update("%u", "%t", "%b", "%c1") + slice("%u", "1, 0", "2, 8", kRow));
  EXPECT_EQ(getRead(), "b");
}

TEST_F(StackedSlices, PartsOfUpdatesAreNotKnown) {
  std::string one = update("%u", "%s", "%a", "%c1");
  parse(one + slice("%u", "1, 0", "3, 8", "tensor<2x8xf32>"));
  EXPECT_EQ(getRead(), "?");
  parse(one + slice("%u", "1, 0", "2, 7", "tensor<1x7xf32>"));
  EXPECT_EQ(getRead(), "?");
  parse(one + slice("%u", "2, 0", "4, 8", "tensor<2x8xf32>"));
  EXPECT_EQ(getRead(), "s");  // ends where the slice begins
}

TEST_F(StackedSlices, StridesAndUnknownPlacesAreNotKnown) {
  parse(update("%u", "%s", "%a", "%c1") + slice("%u", "1, 0", "2, 8", "tensor<1x4xf32>", "1, 2"));
  EXPECT_EQ(getRead(), "?");
  parse(update("%u", "%s", "%a", "%p") + slice("%u", "1, 0", "2, 8", kRow));
  EXPECT_EQ(getRead(), "?");
}

TEST_F(StackedSlices, PlacesOutsideAreMovedInside) {
  parse(update("%u", "%s", "%a", "%c9") + slice("%u", "3, 0", "4, 8", kRow));
  EXPECT_EQ(getRead(), "a");
  parse(update("%u", "%s", "%a", "%cm1") + slice("%u", "0, 0", "1, 8", kRow));
  EXPECT_EQ(getRead(), "a");
}

TEST_F(StackedSlices, LaterUpdatesHideEarlierOnes) {
  parse(update("%t", "%s", "%a", "%c1") + update("%u", "%t", "%b", "%c2"));
  EXPECT_EQ(getLeft(), "ba");
  parse(update("%t", "%s", "%a", "%c1") + update("%u", "%t", "%b", "%c1"));
  EXPECT_EQ(getLeft(), "b");
  // Behind an unknown place nothing is known, and that one itself is not.
  parse(update("%t", "%s", "%a", "%p") + update("%u", "%t", "%b", "%c1"));
  EXPECT_EQ(getLeft(), "b");
  parse(update("%t", "%s", "%a", "%c1") + update("%u", "%t", "%b", "%p"));
  EXPECT_EQ(getLeft(), "");
}

}  // namespace
}  // namespace mlir::sgd
