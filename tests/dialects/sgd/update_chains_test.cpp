// Which updates slices of stacked values read, and which of them are left; regions of reshaped tensors, against lists
// of their elements.
#include "dialects/sgd/update_chains.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "dialects/sgd/tensor_layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

namespace mlir::sgd {
namespace {

class UpdateChainsTest : public ::testing::Test {
 protected:
  UpdateChainsTest() : context(MLIRContext::Threading::DISABLED) {
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
      Value value = UpdateChains(*slice->getBlock()).getSliced(slice);
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

TEST_F(UpdateChainsTest, ASliceReadsTheUpdateOfItsPlace) {
  std::string both = update("%t", "%s", "%a", "%c1") + update("%u", "%t", "%b", "%c2");
  parse(both + slice("%u", "1, 0", "2, 8", kRow));
  EXPECT_EQ(getRead(), "a");
  parse(both + slice("%u", "2, 0", "3, 8", kRow));
  EXPECT_EQ(getRead(), "b");
  parse(both + slice("%u", "3, 0", "4, 8", kRow));
  EXPECT_EQ(getRead(), "s");  // what was there before
}

TEST_F(UpdateChainsTest, TheLaterUpdateOfAPlaceIsRead) {
  parse(update("%t", "%s", "%a", "%c1") + update("%u", "%t", "%b", "%c1") + slice("%u", "1, 0", "2, 8", kRow));
  EXPECT_EQ(getRead(), "b");
}

TEST_F(UpdateChainsTest, PartsOfUpdatesAreNotKnown) {
  std::string one = update("%u", "%s", "%a", "%c1");
  parse(one + slice("%u", "1, 0", "3, 8", "tensor<2x8xf32>"));
  EXPECT_EQ(getRead(), "?");
  parse(one + slice("%u", "1, 0", "2, 7", "tensor<1x7xf32>"));
  EXPECT_EQ(getRead(), "?");
  parse(one + slice("%u", "2, 0", "4, 8", "tensor<2x8xf32>"));
  EXPECT_EQ(getRead(), "s");  // ends where the slice begins
}

TEST_F(UpdateChainsTest, StridesAndUnknownPlacesAreNotKnown) {
  parse(update("%u", "%s", "%a", "%c1") + slice("%u", "1, 0", "2, 8", "tensor<1x4xf32>", "1, 2"));
  EXPECT_EQ(getRead(), "?");
  parse(update("%u", "%s", "%a", "%p") + slice("%u", "1, 0", "2, 8", kRow));
  EXPECT_EQ(getRead(), "?");
}

TEST_F(UpdateChainsTest, PlacesOutsideAreMovedInside) {
  parse(update("%u", "%s", "%a", "%c9") + slice("%u", "3, 0", "4, 8", kRow));
  EXPECT_EQ(getRead(), "a");
  parse(update("%u", "%s", "%a", "%cm1") + slice("%u", "0, 0", "1, 8", kRow));
  EXPECT_EQ(getRead(), "a");
}

TEST_F(UpdateChainsTest, LaterUpdatesHideEarlierOnes) {
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

/// Which updates of random chains wrote each element, at each version, against arrays of elements.
TEST_F(UpdateChainsTest, SourcesAreThoseOfEachElement) {
  std::mt19937 random(1);
  auto draw = [&](int64_t limit) { return static_cast<int64_t>(random() % limit); };
  constexpr int64_t kRows = 4, kColumns = 3;
  for (int trial = 0; trial < 300; ++trial) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    auto full = RankedTensorType::get({kRows, kColumns}, builder.getF32Type());
    OwningOpRef<ModuleOp> holder = ModuleOp::create(loc);
    Block& block = *holder->getBody();
    builder.setInsertionPointToEnd(&block);
    auto zeros = [&](RankedTensorType type) -> Value {
      return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(type)));
    };
    auto index = [&](int64_t value) -> Value {
      auto scalar = RankedTensorType::get({}, builder.getI32Type());
      return arith::ConstantOp::create(builder, loc,
                                       DenseElementsAttr::get(scalar, builder.getI32IntegerAttr(int32_t(value))));
    };
    using Element = std::pair<const void*, int64_t>;  // a value and the number of an element of it
    std::vector<Value> values{zeros(full)};
    std::map<const void*, std::vector<Element>> elements;
    for (int64_t i = 0; i < kRows * kColumns; ++i)
      elements[values[0].getAsOpaquePointer()].push_back({values[0].getAsOpaquePointer(), i});
    for (int64_t made = 1 + draw(8); made > 0; --made) {
      Value input = draw(4) ? values.back() : values[draw(values.size())];  // chains may branch
      int64_t rows = draw(3) ? 1 : 1 + draw(kRows), columns = draw(3) ? kColumns : 1 + draw(kColumns);
      int64_t row = draw(kRows - rows + 1), column = draw(kColumns - columns + 1);
      Value update = zeros(RankedTensorType::get({rows, columns}, builder.getF32Type()));
      SmallVector<Value> starts{index(row), index(column)};
      values.push_back(DynamicUpdateSliceOp::create(builder, loc, full, input, update, starts));
      auto held = elements[input.getAsOpaquePointer()];
      for (int64_t i = 0; i < rows * columns; ++i)
        held[(row + i / columns) * kColumns + column + i % columns] = {update.getAsOpaquePointer(), i};
      elements[values.back().getAsOpaquePointer()] = held;
    }
    UpdateChains chains(block);
    for (Value value : values)
      for (int64_t box = 0; box < 20; ++box) {
        SliceRegion region{{draw(kRows), draw(kColumns)}, {}};
        region.ends = {region.begins[0] + 1 + draw(kRows - region.begins[0]),
                       region.begins[1] + 1 + draw(kColumns - region.begins[1])};
        ValuePart part{value, region};
        while (std::optional<ValuePart> source = chains.getSource(part)) part = *source;
        const auto& held = elements[value.getAsOpaquePointer()];
        const auto& found = elements[part.value.getAsOpaquePointer()];
        int64_t columns = cast<RankedTensorType>(part.value.getType()).getDimSize(1);
        for (int64_t r = 0; r < region.ends[0] - region.begins[0]; ++r)
          for (int64_t c = 0; c < region.ends[1] - region.begins[1]; ++c) {
            int64_t from = (part.region.begins[0] + r) * columns + part.region.begins[1] + c;
            Element expected = held[(region.begins[0] + r) * kColumns + region.begins[1] + c];
            EXPECT_EQ(expected, found.empty() ? Element(part.value.getAsOpaquePointer(), from) : found[from]);
          }
      }
  }
}

/// The numbers of a region's elements in row-major order.
std::vector<int64_t> listElements(const SliceRegion& region, ArrayRef<int64_t> shape) {
  std::vector<int64_t> elements{0};
  for (auto [dim, stride] : llvm::enumerate(getRowMajorStrides(shape))) {
    std::vector<int64_t> next;
    for (int64_t element : elements)
      for (int64_t i = region.begins[dim]; i < region.ends[dim]; ++i) next.push_back(element + i * stride);
    elements = next;
  }
  return elements;
}

/// Calls `visit` for all boxes of a tensor of this shape.
void forEachBox(ArrayRef<int64_t> shape, llvm::function_ref<void(const SliceRegion&)> visit, SliceRegion box = {}) {
  size_t dim = box.begins.size();
  if (dim == shape.size()) return visit(box);
  for (int64_t begin = 0; begin < shape[dim]; ++begin)
    for (int64_t end = begin + 1; end <= shape[dim]; ++end) {
      SliceRegion more = box;
      more.begins.push_back(begin);
      more.ends.push_back(end);
      forEachBox(shape, visit, more);
    }
}

TEST(SliceRegion, ReshapedBoxesHaveTheSameElements) {
  const std::vector<SmallVector<int64_t>> shapes = {{12},   {1, 12},   {12, 1},   {3, 4},
                                                    {2, 6}, {2, 3, 2}, {3, 1, 4}, {2, 2, 3}};
  for (const auto& from : shapes)
    for (const auto& to : shapes) {
      std::set<std::vector<int64_t>> boxes;
      forEachBox(to, [&](const SliceRegion& box) { boxes.insert(listElements(box, to)); });
      forEachBox(from, [&](const SliceRegion& box) {
        std::vector<int64_t> elements = listElements(box, from);
        std::optional<SliceRegion> reshaped = getReshaped(box, from, to);
        if (reshaped) EXPECT_EQ(listElements(*reshaped, to), elements);
        // Boxes of consecutive elements are found wherever they are boxes.
        bool isRange = elements.back() - elements.front() + 1 == static_cast<int64_t>(elements.size());
        if (isRange) EXPECT_EQ(reshaped.has_value(), boxes.contains(elements));
      });
    }
  EXPECT_FALSE(getReshaped({{0, 0}, {0, 1}}, {0, 4}, {4, 0}));
  EXPECT_TRUE(getReshaped({{}, {}}, {}, {1, 1}));
}

}  // namespace
}  // namespace mlir::sgd
