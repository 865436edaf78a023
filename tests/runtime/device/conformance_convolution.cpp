// Convolutions of any Device against their definition: random sizes, layouts, strides, dilations, paddings, groups and
// epilogues. Elements are small integers, so that sums are exact in every type.
#include <algorithm>
#include <numeric>
#include <random>

#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"
#include "tests/runtime/device/conformance.h"
#include "tests/runtime/library/sum_epilogues.h"

namespace sgd::testing {
namespace {

using artifact::ConvolutionT;
using artifact::ElementType;
using artifact::Slice;
using artifact::Space;
using artifact::WindowDim;
using library::Epilogue;
using library::EpilogueStep;

using Random = std::mt19937;

int64_t Pick(Random& random, std::vector<int64_t> choices) { return choices[random() % choices.size()]; }

// Row-major strides of dimensions in a random order, sometimes with gaps; the elements that they reach.
struct Layout {
  std::vector<int64_t> strides;
  uint64_t elements = 1;
};

Layout RandomLayout(Random& random, const std::vector<int64_t>& sizes) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (random() % 2 == 0) std::shuffle(order.begin(), order.end(), random);
  Layout layout{std::vector<int64_t>(sizes.size()), random() % 4 == 0 ? uint64_t{2} : uint64_t{1}};
  for (size_t i = order.size(); i-- > 0;) {
    layout.strides[order[i]] = static_cast<int64_t>(layout.elements);
    layout.elements *= static_cast<uint64_t>(std::max<int64_t>(sizes[order[i]], 1));
  }
  return layout;
}

// The instruction over an arena that holds lhs, rhs, result and bias one after the other.
struct Problem {
  ConvolutionT convolution;
  uint64_t lhs_elements, rhs_elements, result_elements, bias_elements;
  uint64_t lhs_offset, rhs_offset, result_offset, bias_offset, bytes;
};

struct Sizes {
  int64_t batch = 1, groups = 1, inputs = 1, outputs = 1;
  std::vector<int64_t> in, out, kernel, stride, dilation, low;
};

Sizes RandomSizes(Random& random) {
  Sizes s;
  const size_t spatial = random() % 4;
  s.batch = Pick(random, {1, 2, 3, 17});
  s.groups = Pick(random, {1, 1, 1, 2, 5});
  s.inputs = Pick(random, {0, 1, 2, 3, 7, 16, 33});
  s.outputs = Pick(random, {1, 2, 5, 16, 31, 40, 70});
  for (size_t i = 0; i < spatial; ++i) {
    s.in.push_back(Pick(random, {0, 1, 2, 3, 5, 8, 13}));
    s.out.push_back(Pick(random, {1, 2, 3, 4, 7}));
    s.kernel.push_back(Pick(random, {0, 1, 1, 2, 3, 3, 5}));
    s.stride.push_back(Pick(random, {1, 1, 1, 2, 3}));
    s.dilation.push_back(Pick(random, {1, 1, 1, 2, -1, -2}));
    s.low.push_back(Pick(random, {-3, -1, 0, 0, 1, 1, 2, 4}));
  }
  return s;
}

Problem ProblemOf(Random& random, const Sizes& s, ElementType element, Epilogue epilogue) {
  const auto with = [](std::vector<int64_t> first, const std::vector<int64_t>& spatial) {
    first.insert(first.end(), spatial.begin(), spatial.end());
    return first;
  };
  const Layout lhs = RandomLayout(random, with({s.batch, s.groups, s.inputs}, s.in));
  const Layout rhs = RandomLayout(random, with({s.groups, s.inputs, s.outputs}, s.kernel));
  const Layout result = RandomLayout(random, with({s.batch, s.groups, s.outputs}, s.out));
  Problem p;
  ConvolutionT& c = p.convolution;
  using Dim = artifact::ConvolutionDim;
  const auto size = [](int64_t value) { return static_cast<uint64_t>(value); };
  c.element = element;
  c.epilogue = artifact::StepsOf(epilogue);
  c.batch = std::make_unique<Dim>(size(s.batch), lhs.strides[0], 0, result.strides[0]);
  c.groups = std::make_unique<Dim>(size(s.groups), lhs.strides[1], rhs.strides[0], result.strides[1]);
  c.inputs = std::make_unique<Dim>(size(s.inputs), lhs.strides[2], rhs.strides[1], 0);
  c.outputs = std::make_unique<Dim>(size(s.outputs), 0, rhs.strides[2], result.strides[2]);
  for (size_t i = 0; i < s.in.size(); ++i) {
    c.spatial.emplace_back(size(s.in[i]), size(s.out[i]), size(s.kernel[i]), s.stride[i], s.dilation[i], s.low[i],
                           lhs.strides[3 + i], rhs.strides[3 + i], result.strides[3 + i]);
  }
  const uint64_t bytes = artifact::ElementSize(element),
                 sum = artifact::ElementSize(artifact::AccumulatorElement(element));
  const auto align = [](uint64_t value) { return (value + 63) / 64 * 64; };
  p.lhs_elements = lhs.elements, p.rhs_elements = rhs.elements, p.result_elements = result.elements;
  p.bias_elements = size(s.groups * s.outputs);
  p.lhs_offset = 0;
  p.rhs_offset = align(lhs.elements * bytes);
  p.result_offset = p.rhs_offset + align(rhs.elements * bytes);
  p.bias_offset = p.result_offset + align(result.elements * sum);
  p.bytes = p.bias_offset + align(p.bias_elements * sum);
  c.lhs = std::make_unique<Slice>(Space::Private, p.lhs_offset, lhs.elements * bytes);
  c.rhs = std::make_unique<Slice>(Space::Private, p.rhs_offset, rhs.elements * bytes);
  c.result = std::make_unique<Slice>(Space::Private, p.result_offset, result.elements * sum);
  if (epilogue.Has(EpilogueStep::kBias)) {
    c.bias = std::make_unique<Slice>(Space::Private, p.bias_offset, p.bias_elements * sum);
  }
  return p;
}

template <typename T, typename Sum>
struct Operands {
  std::vector<T> lhs, rhs;
  std::vector<Sum> result, bias;
};

template <typename T, typename Sum>
Operands<T, Sum> RandomOperands(Random& random, const Problem& p) {
  const auto fill = [&](auto example, uint64_t count) {
    std::vector<decltype(example)> values(count);
    for (auto& value : values) value = static_cast<decltype(example)>(static_cast<int>(random() % 7) - 3);
    return values;
  };
  return {fill(T{}, p.lhs_elements), fill(T{}, p.rhs_elements), fill(Sum{}, p.result_elements),
          fill(Sum{}, p.bias_elements)};
}

// Calls visit(index) for every index below `sizes`.
template <typename Visit>
void ForEachIndex(const std::vector<uint64_t>& sizes, Visit visit) {
  std::vector<int64_t> index(sizes.size(), 0);
  if (std::find(sizes.begin(), sizes.end(), uint64_t{0}) != sizes.end()) return;
  while (true) {
    visit(index);
    size_t dim = sizes.size();
    while (dim > 0 && static_cast<uint64_t>(++index[dim - 1]) == sizes[dim - 1]) index[--dim] = 0;
    if (dim == 0) return;
  }
}

template <typename T, typename Sum>
std::vector<Sum> Expected(const Problem& p, const Operands<T, Sum>& values) {
  const ConvolutionT& c = p.convolution;
  const Epilogue epilogue = artifact::EpilogueOf(c.epilogue);
  std::vector<Sum> result = values.result;
  std::vector<uint64_t> places = {c.batch->size(), c.groups->size(), c.outputs->size()}, taps = {c.inputs->size()};
  for (const WindowDim& dim : c.spatial) {
    places.push_back(dim.output());
    taps.push_back(dim.kernel());
  }
  ForEachIndex(places, [&](const std::vector<int64_t>& place) {
    const int64_t n = place[0], g = place[1], f = place[2];
    Sum sum{0};
    ForEachIndex(taps, [&](const std::vector<int64_t>& tap) {
      int64_t l = n * c.batch->lhs() + g * c.groups->lhs() + tap[0] * c.inputs->lhs();
      int64_t r = g * c.groups->rhs() + tap[0] * c.inputs->rhs() + f * c.outputs->rhs();
      for (size_t i = 0; i < c.spatial.size(); ++i) {
        const WindowDim& dim = c.spatial[i];
        const int64_t position = place[3 + i] * dim.stride() + tap[1 + i] * dim.dilation() - dim.low();
        if (position < 0 || position >= static_cast<int64_t>(dim.input())) return;
        l += position * dim.lhs(), r += tap[1 + i] * dim.rhs();
      }
      sum +=
          static_cast<Sum>(values.lhs[static_cast<size_t>(l)]) * static_cast<Sum>(values.rhs[static_cast<size_t>(r)]);
    });
    int64_t at = n * c.batch->result() + g * c.groups->result() + f * c.outputs->result();
    for (size_t i = 0; i < c.spatial.size(); ++i) at += place[3 + i] * c.spatial[i].result();
    Sum& target = result[static_cast<size_t>(at)];
    if (epilogue.Has(EpilogueStep::kResidual)) sum += target;
    if (c.bias != nullptr) sum += values.bias[static_cast<size_t>(g) * c.outputs->size() + static_cast<size_t>(f)];
    if (epilogue.Has(EpilogueStep::kRelu) && sum < Sum{0}) sum = Sum{0};
    target = sum;
  });
  return result;
}

template <typename T, typename Sum>
std::vector<Sum> Compute(device::Device& device, const Problem& p, const Operands<T, Sum>& values) {
  TestArena arena(device, p.bytes);
  arena.Put(p.lhs_offset, values.lhs);
  arena.Put(p.rhs_offset, values.rhs);
  arena.Put(p.result_offset, values.result);
  arena.Put(p.bias_offset, values.bias);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Convolution::Pack(builder, &p.convolution));
  device::PreparedThunk thunk =
      device.PrepareConvolution(*flatbuffers::GetRoot<artifact::Convolution>(builder.GetBufferPointer()), arena.map());
  EXPECT_TRUE(thunk.ok()) << thunk.status();
  if (!thunk.ok()) return {};
  builder.Clear();  // thunks keep no reference to the instruction
  EXPECT_TRUE((*thunk)->Execute().ok());
  EXPECT_TRUE(device.Synchronize().ok());
  return arena.Get<Sum>(p.result_offset, values.result.size());
}

std::string Describe(const Problem& p) {
  const ConvolutionT& c = p.convolution;
  std::string text =
      std::string(artifact::ElementName(c.element)) + " epilogue " + library::TextOf(artifact::EpilogueOf(c.epilogue));
  const auto dim = [&](const char* name, const artifact::ConvolutionDim& d) {
    text += std::string(" ") + name + " " + std::to_string(d.size()) + " [" + std::to_string(d.lhs()) + ", " +
            std::to_string(d.rhs()) + ", " + std::to_string(d.result()) + "]";
  };
  dim("batch", *c.batch), dim("groups", *c.groups), dim("inputs", *c.inputs), dim("outputs", *c.outputs);
  for (const WindowDim& d : c.spatial) {
    text += "; " + std::to_string(d.input()) + " to " + std::to_string(d.output()) + " of " +
            std::to_string(d.kernel()) + " stride " + std::to_string(d.stride()) + " dilation " +
            std::to_string(d.dilation()) + " low " + std::to_string(d.low()) + " [" + std::to_string(d.lhs()) + ", " +
            std::to_string(d.rhs()) + ", " + std::to_string(d.result()) + "]";
  }
  return text;
}

template <typename T, typename Sum>
void Check(device::Device& device, Random& random, const Problem& p) {
  const Operands<T, Sum> values = RandomOperands<T, Sum>(random, p);
  const std::vector<Sum> actual = Compute(device, p, values), expected = Expected(p, values);
  ASSERT_EQ(actual.size(), expected.size()) << Describe(p);
  for (size_t at = 0; at < actual.size(); ++at) ASSERT_EQ(actual[at], expected[at]) << Describe(p) << " element " << at;
}

TEST_P(DeviceConformance, ConvolutionsOfRandomShapesAndLayouts) {
  auto device = MakeDevice(2);
  Random random(11);
  for (int i = 0; i < 240; ++i) {
    const Sizes sizes = RandomSizes(random);
    const Epilogue epilogue = testing::kSumEpilogues[random() % std::size(testing::kSumEpilogues)];
    SCOPED_TRACE(i);
    Check<float, float>(*device, random, ProblemOf(random, sizes, ElementType::F32, epilogue));
    if (i % 4 == 0) Check<double, double>(*device, random, ProblemOf(random, sizes, ElementType::F64, epilogue));
    if (i % 4 == 1) Check<int8_t, int32_t>(*device, random, ProblemOf(random, sizes, ElementType::I8, epilogue));
    if (i % 4 == 2) Check<int32_t, int32_t>(*device, random, ProblemOf(random, sizes, ElementType::I32, epilogue));
    if (i % 4 == 3) Check<_Float16, float>(*device, random, ProblemOf(random, sizes, ElementType::F16, epilogue));
    if (HasFatalFailure()) return;
  }
}

// Operands that repeat along dimensions: strides of 0, which an element that follows must not be read for.
TEST_P(DeviceConformance, ConvolutionsOfRepeatedElements) {
  auto device = MakeDevice(2);
  Random random(29);
  for (int i = 0; i < 200; ++i) {
    Problem p = ProblemOf(random, RandomSizes(random), ElementType::F32,
                          testing::kSumEpilogues[random() % std::size(testing::kSumEpilogues)]);
    ConvolutionT& c = p.convolution;
    const auto repeat = [&](int64_t stride) { return random() % 2 == 0 ? 0 : stride; };
    using Dim = artifact::ConvolutionDim;
    c.batch = std::make_unique<Dim>(c.batch->size(), repeat(c.batch->lhs()), 0, c.batch->result());
    c.groups =
        std::make_unique<Dim>(c.groups->size(), repeat(c.groups->lhs()), repeat(c.groups->rhs()), c.groups->result());
    c.inputs = std::make_unique<Dim>(c.inputs->size(), repeat(c.inputs->lhs()), repeat(c.inputs->rhs()), 0);
    c.outputs = std::make_unique<Dim>(c.outputs->size(), 0, repeat(c.outputs->rhs()), c.outputs->result());
    for (WindowDim& d : c.spatial) {
      d = WindowDim(d.input(), d.output(), d.kernel(), d.stride(), d.dilation(), d.low(), repeat(d.lhs()),
                    repeat(d.rhs()), d.result());
    }
    SCOPED_TRACE(i);
    Check<float, float>(*device, random, p);
    if (HasFatalFailure()) return;
  }
}

// Windows whose elements are far apart, in padding that takes more memory than there is when it is laid out.
TEST_P(DeviceConformance, ConvolutionsOfFarWindows) {
  auto device = MakeDevice(2);
  Random random(31);
  for (const int64_t groups : {1, 2}) {
    const Sizes sizes{2, groups, 16, 1, {1, 1}, {16, 2}, {2, 1024}, {1, 16777215}, {1048574, 16777216}, {0, 0}};
    Check<float, float>(*device, random, ProblemOf(random, sizes, ElementType::F32, testing::kNoEpilogue));
    if (HasFatalFailure()) return;
  }
}

// Sums over several blocks of steps, units of rows and stripes of columns.
TEST_P(DeviceConformance, LargeConvolutions) {
  auto device = MakeDevice(3);
  Random random(5);
  const Sizes sizes[] = {
      {3, 1, 80, 70, {9, 11}, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},     // forward
      {2, 1, 96, 200, {4, 4}, {4, 4}, {3, 3}, {1, 1}, {-1, -1}, {-1, -1}},  // by the input, more features than rows
      {70, 1, 16, 40, {12, 12}, {3, 3}, {12, 12}, {1, 1}, {1, 1}, {1, 1}},  // by the kernel
      {3, 1, 9, 40, {33, 17}, {7, 7}, {16, 8}, {1, 1}, {2, 2}, {3, 3}},     // by the kernel of a strided one
      {2, 70, 20, 50, {6}, {6}, {3}, {1}, {1}, {1}},                        // many groups
      {5, 1, 1030, 33, {2}, {2}, {2}, {1}, {1}, {1}}};
  uint32_t number = 0;
  for (const Sizes& size : sizes) {
    for (int layout = 0; layout < 2; ++layout) {
      Check<float, float>(*device, random,
                          ProblemOf(random, size, ElementType::F32,
                                    testing::kSumEpilogues[number++ % std::size(testing::kSumEpilogues)]));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(DeviceConformance, ConvolutionBitsDoNotDependOnThreads) {
  Random random(3);
  const Problem p = ProblemOf(random, {3, 2, 80, 70, {9, 11}, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
                              ElementType::F32, testing::kNoEpilogue);
  Operands<float, float> values = RandomOperands<float, float>(random, p);
  for (float& value : values.lhs) value += 0.1f;
  std::vector<float> one;
  for (uint32_t threads : {1, 2, 5}) {
    auto device = MakeDevice(threads);
    const std::vector<float> result = Compute(*device, p, values);
    if (threads == 1) one = result;
    EXPECT_EQ(std::memcmp(one.data(), result.data(), one.size() * sizeof(float)), 0) << threads << " threads";
  }
}

TEST_P(DeviceConformance, ConvolutionOfBooleansIsRefused) {
  auto device = MakeDevice(1);
  Random random(1);
  const Problem p =
      ProblemOf(random, {1, 1, 2, 2, {3}, {3}, {1}, {1}, {1}, {0}}, ElementType::Bool, testing::kNoEpilogue);
  TestArena arena(*device, p.bytes);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Convolution::Pack(builder, &p.convolution));
  absl::Status status =
      device->PrepareConvolution(*flatbuffers::GetRoot<artifact::Convolution>(builder.GetBufferPointer()), arena.map())
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
}

}  // namespace
}  // namespace sgd::testing
