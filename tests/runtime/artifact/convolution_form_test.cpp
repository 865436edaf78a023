// Random convolutions computed as the schema says and as their forms say; and which have a form.
#include "runtime/artifact/convolution_form.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "tests/runtime/artifact/convolution_products.h"

namespace sgd::artifact {
namespace {

using ::testing::ElementsAre;
using testing::ForEach;
using testing::ForEachProduct;
using testing::ForEachResult;
using ::testing::HasSubstr;
using testing::Index;

int64_t ValueAt(int64_t place) { return place * 7 % 11 - 5; }

// Result elements by their place in memory.
using Result = std::map<int64_t, int64_t>;

Result AsTheSchemaSays(const ConvolutionT& c) {
  Result result;
  ForEachResult(c, [&](int64_t place) { result[place] = 0; });
  ForEachProduct(c, [&](int64_t place, int64_t lhs, int64_t rhs) { result.at(place) += ValueAt(lhs) * ValueAt(rhs); });
  return result;
}

Result AsTheFormSays(const ConvolutionForm& form) {
  const ConvolutionTensor* tensors[] = {&form.image, &form.filter, &form.response};
  const int target = form.kind == ConvolutionKind::Forward ? 2 : form.kind == ConvolutionKind::DataGradient ? 0 : 1;
  const auto place = [](const ConvolutionTensor& tensor, const Index& index) {
    int64_t at = tensor.first;
    for (size_t i = 0; i < index.size(); ++i) at += index[i] * tensor.strides[i];
    return at;
  };
  Result result;
  ForEach(tensors[target]->sizes, [&](const Index& at) { result[place(*tensors[target], at)] = 0; });
  const int64_t per_group = form.filter.sizes[0] / form.groups;
  ForEach(form.response.sizes, [&](const Index& at) {
    Index taps = form.filter.sizes;
    taps[0] = 1;
    ForEach(taps, [&](const Index& tap) {
      Index image = at, filter = tap;
      image[1] = at[1] / per_group * form.filter.sizes[1] + tap[1];
      filter[0] = at[1];
      for (size_t i = 2; i < at.size(); ++i) {
        image[i] = at[i] * form.strides[i - 2] + tap[i] * form.dilations[i - 2] - form.before[i - 2];
        if (image[i] < 0 || image[i] >= form.image.sizes[i]) return;
        if (form.flips) filter[i] = form.filter.sizes[i] - 1 - tap[i];
      }
      const int64_t places[] = {place(form.image, image), place(form.filter, filter), place(form.response, at)};
      result.at(places[target]) += ValueAt(places[(target + 1) % 3]) * ValueAt(places[(target + 2) % 3]);
    });
  });
  return result;
}

// Checks the demands of libraries on shapes.
void ExpectConsistent(const ConvolutionForm& form) {
  ASSERT_GE(form.strides.size(), 2u);
  ASSERT_LE(form.strides.size(), 3u);
  EXPECT_EQ(form.image.sizes[0], form.response.sizes[0]);
  EXPECT_EQ(form.image.sizes[1], form.filter.sizes[1] * form.groups);
  EXPECT_EQ(form.filter.sizes[0], form.response.sizes[1]);
  for (size_t i = 0; i < form.strides.size(); ++i) {
    EXPECT_GE(form.before[i], 0);
    EXPECT_GE(form.after[i], 0);
    const int64_t reach = (form.filter.sizes[i + 2] - 1) * form.dilations[i] + 1;
    const int64_t room = form.image.sizes[i + 2] + form.before[i] + form.after[i] - reach;
    ASSERT_GE(room, 0);
    EXPECT_EQ(form.response.sizes[i + 2], room / form.strides[i] + 1);
  }
  for (const ConvolutionTensor* tensor : {&form.image, &form.filter, &form.response})
    for (int64_t stride : tensor->strides) EXPECT_GE(stride, 1);
}

class Draw {
 public:
  explicit Draw(uint32_t seed) : random_(seed) {}
  int64_t From(int64_t low, int64_t high) { return low + static_cast<int64_t>(random_() % (high - low + 1)); }

  // Dimensions in a random order in memory, groups next to the features mostly.
  ConvolutionT Convolution() {
    ConvolutionT c;
    c.element = ElementType::F32;
    const int64_t spatial = From(0, 3);
    const bool is_dilated = From(0, 2) == 0, reads_backwards = From(0, 2) == 0;
    struct Size {
      int64_t n, g, c, f;
    } size = {From(1, 3), From(0, 2) == 0 ? From(2, 3) : 1, From(1, 3), From(1, 3)};
    std::vector<WindowDim> windows;
    for (int64_t i = 0; i < spatial; ++i) {
      const int64_t input = From(1, 6), kernel = From(1, 4), output = From(1, 5);
      const bool backwards = reads_backwards && From(0, 5) != 0;
      const int64_t dilation = (backwards ? -1 : 1) * From(1, 2), reach = (kernel - 1) * dilation;
      windows.push_back(WindowDim(input, output, kernel, is_dilated ? 1 : From(1, 3), dilation,
                                  From(-2, 2) + (backwards ? reach : 0), 0, 0, 0));
      if (is_dilated) c.lhs_dilations.push_back(From(1, 3));
    }
    std::vector<int64_t> lhs_sizes = {size.n, size.g, size.c}, rhs_sizes = {size.g, size.c, size.f},
                         result_sizes = {size.n, size.g, size.f};
    for (const WindowDim& w : windows) {
      lhs_sizes.push_back(static_cast<int64_t>(w.input()));
      rhs_sizes.push_back(static_cast<int64_t>(w.kernel()));
      result_sizes.push_back(static_cast<int64_t>(w.output()));
    }
    const Index lhs = Strides(lhs_sizes, 1, 2), rhs = Strides(rhs_sizes, 0, From(1, 2)),
                result = Strides(result_sizes, 1, 2);
    c.batch = std::make_unique<ConvolutionDim>(size.n, lhs[0], 0, result[0]);
    c.groups = std::make_unique<ConvolutionDim>(size.g, lhs[1], rhs[0], result[1]);
    c.inputs = std::make_unique<ConvolutionDim>(size.c, lhs[2], rhs[1], 0);
    c.outputs = std::make_unique<ConvolutionDim>(size.f, 0, rhs[2], result[2]);
    for (size_t i = 0; i < windows.size(); ++i) {
      const WindowDim& w = windows[i];
      c.spatial.emplace_back(w.input(), w.output(), w.kernel(), w.stride(), w.dilation(), w.low(), lhs[3 + i],
                             rhs[3 + i], result[3 + i]);
    }
    return c;
  }

 private:
  // Row-major over a random order of dimensions in which `second` follows `first`.
  Index Strides(const Index& sizes, size_t first, size_t second) {
    std::vector<size_t> order;
    for (size_t i = 0; i < sizes.size(); ++i)
      if (i != second) order.push_back(i);
    std::shuffle(order.begin(), order.end(), random_);
    order.insert(std::find(order.begin(), order.end(), first) + 1, second);
    Index strides(sizes.size());
    int64_t stride = 1;
    for (size_t at = order.size(); at-- > 0;) {
      strides[order[at]] = stride;
      stride *= sizes[order[at]];
    }
    return strides;
  }

  std::mt19937 random_;
};

TEST(ConvolutionForm, ComputesWhatTheSchemaSays) {
  std::map<ConvolutionKind, int> forms;
  int refused = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    const ConvolutionT convolution = Draw(seed).Convolution();
    absl::StatusOr<ConvolutionForm> form = ConvolutionFormOf(convolution);
    if (!form.ok()) {
      EXPECT_EQ(form.status().code(), absl::StatusCode::kUnimplemented);
      ++refused;
      continue;
    }
    ++forms[form->kind];
    ExpectConsistent(*form);
    ASSERT_EQ(AsTheFormSays(*form), AsTheSchemaSays(convolution));
  }
  // Every kind occurs, and most convolutions have a form.
  EXPECT_GT(forms[ConvolutionKind::Forward], 45);
  EXPECT_GT(forms[ConvolutionKind::DataGradient], 15);
  EXPECT_GT(forms[ConvolutionKind::FilterGradient], 15);
  EXPECT_LT(refused, 360);
}

// x[8, 9, 9, 4] with 3x3 windows, strides 2, padding 1, to y[8, 5, 5, 16]: as JAX writes it and its gradients.
ConvolutionT Strided() {
  ConvolutionT c;
  c.element = ElementType::F32;
  c.batch = std::make_unique<ConvolutionDim>(8, 324, 0, 400);
  c.groups = std::make_unique<ConvolutionDim>(1, 0, 0, 0);
  c.inputs = std::make_unique<ConvolutionDim>(4, 1, 16, 0);
  c.outputs = std::make_unique<ConvolutionDim>(16, 0, 1, 1);
  c.spatial = {WindowDim(9, 5, 3, 2, 1, 1, 36, 192, 80), WindowDim(9, 5, 3, 2, 1, 1, 4, 64, 16)};
  return c;
}

TEST(ConvolutionForm, OfAStridedConvolutionAndItsGradients) {
  absl::StatusOr<ConvolutionForm> forward = ConvolutionFormOf(Strided());
  ASSERT_TRUE(forward.ok()) << forward.status();
  EXPECT_EQ(forward->kind, ConvolutionKind::Forward);
  EXPECT_THAT(forward->image.sizes, ElementsAre(8, 4, 9, 9));
  EXPECT_THAT(forward->image.strides, ElementsAre(324, 1, 36, 4));
  EXPECT_THAT(forward->filter.sizes, ElementsAre(16, 4, 3, 3));
  EXPECT_THAT(forward->response.sizes, ElementsAre(8, 16, 5, 5));
  EXPECT_THAT(forward->before, ElementsAre(1, 1));
  EXPECT_THAT(forward->after, ElementsAre(1, 1));

  // By the data: dy is dilated by the strides and the kernel is read backwards.
  ConvolutionT data = Strided();
  data.batch = std::make_unique<ConvolutionDim>(8, 400, 0, 324);
  data.inputs = std::make_unique<ConvolutionDim>(16, 1, 1, 0);
  data.outputs = std::make_unique<ConvolutionDim>(4, 0, 16, 1);
  data.spatial = {WindowDim(5, 9, 3, 1, -1, -1, 80, 192, 36), WindowDim(5, 9, 3, 1, -1, -1, 16, 64, 4)};
  data.lhs_dilations = {2, 2};
  absl::StatusOr<ConvolutionForm> by_data = ConvolutionFormOf(data);
  ASSERT_TRUE(by_data.ok()) << by_data.status();
  EXPECT_EQ(by_data->kind, ConvolutionKind::DataGradient);
  EXPECT_FALSE(by_data->flips);
  EXPECT_THAT(by_data->strides, ElementsAre(2, 2));
  EXPECT_EQ(by_data->image.sizes, forward->image.sizes);
  EXPECT_EQ(by_data->response.strides, forward->response.strides);
  EXPECT_EQ(by_data->before, forward->before);
  EXPECT_EQ(by_data->after, forward->after);

  // By the filter: dy is a kernel whose elements lie as far apart as the windows did.
  ConvolutionT filter = Strided();
  filter.batch = std::make_unique<ConvolutionDim>(4, 1, 0, 16);
  filter.inputs = std::make_unique<ConvolutionDim>(8, 324, 400, 0);
  filter.outputs = std::make_unique<ConvolutionDim>(16, 0, 1, 1);
  filter.spatial = {WindowDim(9, 3, 5, 1, 2, 1, 36, 80, 192), WindowDim(9, 3, 5, 1, 2, 1, 4, 16, 64)};
  absl::StatusOr<ConvolutionForm> by_filter = ConvolutionFormOf(filter);
  ASSERT_TRUE(by_filter.ok()) << by_filter.status();
  EXPECT_EQ(by_filter->kind, ConvolutionKind::FilterGradient);
  EXPECT_THAT(by_filter->strides, ElementsAre(2, 2));
  EXPECT_EQ(by_filter->image.strides, forward->image.strides);
  EXPECT_EQ(by_filter->filter.sizes, forward->filter.sizes);
  EXPECT_EQ(by_filter->filter.strides, forward->filter.strides);
}

TEST(ConvolutionForm, SaysWhyThereIsNone) {
  const auto why = [](const std::function<void(ConvolutionT&)>& change) {
    ConvolutionT c = Strided();
    change(c);
    return std::string(ConvolutionFormOf(c).status().message());
  };
  EXPECT_THAT(why([](ConvolutionT& c) { c.element = ElementType::I32; }), HasSubstr("no floats"));
  EXPECT_THAT(why([](ConvolutionT& c) { c.element = ElementType::BF16; }), HasSubstr("wider than the operands"));
  EXPECT_EQ(why([](ConvolutionT& c) { c.element = ElementType::BF16, c.rounds = true; }), "");
  EXPECT_THAT(why([](ConvolutionT& c) { c.spatial.resize(4, WindowDim(2, 2, 1, 1, 1, 0, 1, 1, 1)); }),
              HasSubstr("more than 3 spatial dimensions"));
  EXPECT_THAT(why([](ConvolutionT& c) { c.batch = std::make_unique<ConvolutionDim>(0, 324, 0, 400); }),
              HasSubstr("a size of zero"));
  EXPECT_THAT(why([](ConvolutionT& c) { c.batch = std::make_unique<ConvolutionDim>(8, 0, 0, 400); }),
              HasSubstr("repeats along a dimension"));
  EXPECT_THAT(why([](ConvolutionT& c) { c.spatial[0] = WindowDim(9, 5, 3, 2, -1, 1, 36, 192, 80); }),
              HasSubstr("backwards along some"));
  EXPECT_THAT(why([](ConvolutionT& c) { c.lhs_dilations = {2, 2}; }), HasSubstr("strided windows over a dilated"));
  EXPECT_THAT(why([](ConvolutionT& c) { c.spatial[0] = WindowDim(9, 5, 3, 2, 1, 40, 36, 192, 80); }),
              HasSubstr("entirely in the padding"));
}

}  // namespace
}  // namespace sgd::artifact
