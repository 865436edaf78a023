// Positions of windows are bounded as well, since they are computed before it is known that they are in the padding.
#include "runtime/artifact/verify_convolution.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"
#include "runtime/artifact/invalid.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/strides.h"

namespace sgd::artifact {
namespace {

constexpr uint64_t kMaxSpatialDims = 6;
// Of strides, dilations and padding, in elements of a dimension.
constexpr int64_t kMaxDistance = int64_t{1} << 31;
// Of windows, in elements of the lhs: the positions of six dimensions together, and addresses, stay below 2^63.
constexpr uint64_t kMaxReach = uint64_t{1} << 56;

bool IsDistance(int64_t value) { return value >= -kMaxDistance && value <= kMaxDistance; }

absl::Status VerifyWindow(const WindowDim& dim) {
  for (uint64_t size : {dim.input(), dim.output(), dim.kernel()}) {
    if (size > static_cast<uint64_t>(kMaxDistance)) return Invalid("a spatial dimension is larger than 2^31");
  }
  if (dim.stride() < 1 || dim.dilation() == 0) return Invalid("a stride below 1 or a dilation of 0");
  if (!IsDistance(dim.stride()) || !IsDistance(dim.dilation()) || !IsDistance(dim.low())) {
    return Invalid("a stride, a dilation or a padding is larger than 2^31");
  }
  const auto reach = [](uint64_t size, int64_t step) {
    return std::max<uint64_t>(size, 1) * static_cast<uint64_t>(step < 0 ? -step : step);
  };
  const uint64_t furthest =
      reach(dim.output(), dim.stride()) + reach(dim.kernel(), dim.dilation()) + reach(1, dim.low());
  // Positions are computed too where the lhs is the same along them. A negative stride is refused with the others.
  const uint64_t lhs = dim.lhs() > 0 ? static_cast<uint64_t>(dim.lhs()) : 1;
  if (furthest > kMaxReach / lhs) {
    return Invalid("windows reach further than 2^56 elements");
  }
  return absl::OkStatus();
}

absl::Status VerifySizes(const Convolution& c) {
  if (!IsOfInstructions(c.element()) || c.element() == ElementType::Bool || IsFloat8(c.element()))
    return Invalid("unknown element type");
  if (Size(c.spatial()) > kMaxSpatialDims) return Invalid("more than 6 spatial dimensions");
  std::vector<uint64_t> sizes = {c.batch()->size(), c.groups()->size(), c.inputs()->size(), c.outputs()->size()};
  for (uint32_t i = 0; i < Size(c.spatial()); ++i) {
    const WindowDim& dim = *c.spatial()->Get(i);
    if (absl::Status status = VerifyWindow(dim); !status.ok()) return status;
    sizes.push_back(dim.output());
    sizes.push_back(dim.kernel());
  }
  if (Size(c.lhs_dilations()) != 0 && Size(c.lhs_dilations()) != Size(c.spatial()))
    return Invalid("dilations of the lhs do not match the spatial dimensions");
  for (uint32_t i = 0; i < Size(c.lhs_dilations()); ++i) {
    const int64_t dilation = c.lhs_dilations()->Get(i);
    if (dilation < 1 || dilation > kMaxDistance) return Invalid("a dilation of the lhs below 1 or larger than 2^31");
  }
  if (c.rounds() && c.element() != ElementType::F16 && c.element() != ElementType::BF16)
    return Invalid("rounds elements that are neither f16 nor bf16");
  return VerifyWork(sizes);
}

// Dimensions of an operand; `stride` and `size` say what of a dimension is its.
struct OperandDims {
  std::vector<StridedDim> lhs, rhs, result;
};

OperandDims DimsOf(const Convolution& c) {
  OperandDims dims;
  dims.lhs = {{c.batch()->size(), c.batch()->lhs()},
              {c.groups()->size(), c.groups()->lhs()},
              {c.inputs()->size(), c.inputs()->lhs()}};
  dims.rhs = {{c.groups()->size(), c.groups()->rhs()},
              {c.inputs()->size(), c.inputs()->rhs()},
              {c.outputs()->size(), c.outputs()->rhs()}};
  dims.result = {{c.batch()->size(), c.batch()->result()},
                 {c.groups()->size(), c.groups()->result()},
                 {c.outputs()->size(), c.outputs()->result()}};
  for (uint32_t i = 0; i < Size(c.spatial()); ++i) {
    const WindowDim& dim = *c.spatial()->Get(i);
    dims.lhs.push_back({dim.input(), dim.lhs()});
    dims.rhs.push_back({dim.kernel(), dim.rhs()});
    dims.result.push_back({dim.output(), dim.result()});
  }
  return dims;
}

absl::StatusOr<Range> FitDims(const VerifyContext& context, const Slice* slice, const std::vector<StridedDim>& dims,
                              ElementType element, const std::string& what) {
  absl::StatusOr<uint64_t> extent = Extent(dims, what);
  if (!extent.ok()) return extent.status();
  return Fit(context, slice, *extent, element, what);
}

}  // namespace

absl::Status VerifyConvolution(const VerifyContext& context, const Convolution& convolution) {
  if (absl::Status status = VerifySizes(convolution); !status.ok()) return status;
  if (absl::Status status = VerifyEpilogue(convolution); !status.ok()) return status;
  const OperandDims dims = DimsOf(convolution);
  const ElementType element = convolution.element(),
                    written = convolution.rounds() ? element : AccumulatorElement(element);
  absl::StatusOr<Range> lhs = FitDims(context, convolution.lhs(), dims.lhs, element, "lhs");
  if (!lhs.ok()) return lhs.status();
  absl::StatusOr<Range> rhs = FitDims(context, convolution.rhs(), dims.rhs, element, "rhs");
  if (!rhs.ok()) return rhs.status();
  absl::StatusOr<Range> result = FitDims(context, convolution.result(), dims.result, written, "result");
  if (!result.ok()) return result.status();
  if (result->space == Space::Constant) return Invalid("the result is in the constants, which are read-only");
  if (!IsInjective(dims.result)) return Invalid("the strides of the result let two elements share one address");
  if (Overlap(*result, *lhs) || Overlap(*result, *rhs)) return Invalid("the result overlaps an operand");
  if (convolution.workspace() != nullptr) {
    // Bytes, of any number: as elements of one byte.
    absl::StatusOr<Range> workspace =
        Fit(context, convolution.workspace(), convolution.workspace()->size(), ElementType::U8, "workspace");
    if (!workspace.ok()) return workspace.status();
    if (workspace->space == Space::Constant) return Invalid("the workspace is in the constants, which are read-only");
    if (Overlap(*workspace, *lhs) || Overlap(*workspace, *rhs) || Overlap(*workspace, *result))
      return Invalid("the workspace overlaps an operand");
  }
  if (convolution.bias() == nullptr) return absl::OkStatus();
  const uint64_t elements = convolution.groups()->size() * convolution.outputs()->size();
  absl::StatusOr<Range> bias = Fit(context, convolution.bias(), elements, written, "bias");
  if (!bias.ok()) return bias.status();
  return Overlap(*result, *bias) ? Invalid("the result overlaps the bias") : absl::OkStatus();
}

}  // namespace sgd::artifact
