// Tries the forms that may fit in the order in which libraries are fastest.
#include "runtime/artifact/convolution_form.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "runtime/artifact/element_type.h"

namespace sgd::artifact {
namespace {

constexpr size_t kLeastSpatialDims = 2, kMostSpatialDims = 3;
constexpr int64_t kMaxSize = (int64_t{1} << 31) - 1;

absl::Status No(const std::string& why) { return absl::UnimplementedError(why); }

struct Dim {
  int64_t size, stride;
};

// A window with the dilation of its lhs, which sizes are signed.
struct Window {
  int64_t input, output, kernel, stride, dilation, low, lhs_dilation;
  int64_t lhs, rhs, result;  // strides
};

bool IsUnit(const Window& window) {
  return window.input == 1 && window.output == 1 && window.kernel == 1 && window.low == 0;
}

Window UnitWindow() { return {1, 1, 1, 1, 1, 0, 1, 0, 0, 0}; }

std::vector<Window> WindowsOf(const ConvolutionT& c) {
  std::vector<Window> windows;
  for (size_t i = 0; i < c.spatial.size(); ++i) {
    const WindowDim& dim = c.spatial[i];
    windows.push_back({static_cast<int64_t>(dim.input()), static_cast<int64_t>(dim.output()),
                       static_cast<int64_t>(dim.kernel()), dim.stride(), dim.dilation(), dim.low(),
                       c.lhs_dilations.empty() || dim.input() == 1 ? 1 : c.lhs_dilations[i], dim.lhs(), dim.rhs(),
                       dim.result()});
  }
  if (windows.size() > kMostSpatialDims) std::erase_if(windows, IsUnit);
  while (windows.size() < kLeastSpatialDims) windows.insert(windows.begin(), UnitWindow());
  return windows;
}

Dim DimOf(const ConvolutionDim& dim, int64_t stride) { return {static_cast<int64_t>(dim.size()), stride}; }

// Groups and what each has of features, as one dimension.
absl::StatusOr<Dim> Merge(Dim groups, Dim features) {
  if (groups.size == 1) return features;
  if (features.size == 1) return groups;
  if (groups.stride != features.size * features.stride) return No("the features of groups are not contiguous");
  return Dim{groups.size * features.size, features.stride};
}

absl::StatusOr<ConvolutionTensor> TensorOf(absl::StatusOr<Dim> outer, absl::StatusOr<Dim> features,
                                           const std::vector<Dim>& spatial) {
  if (!outer.ok()) return outer.status();
  if (!features.ok()) return features.status();
  std::vector<Dim> dims = {*outer, *features};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  int64_t extent = 1;
  for (const Dim& dim : dims) {
    if (dim.size < 1 || dim.size > kMaxSize) return No("a size of zero, or of 2^31 and more");
    if (dim.size > 1 && dim.stride < 1) return No("an operand that repeats along a dimension");
    if (dim.size > 1) extent = std::max(extent, dim.size * dim.stride);
  }
  ConvolutionTensor tensor;
  for (const Dim& dim : dims) {
    tensor.sizes.push_back(dim.size);
    tensor.strides.push_back(dim.size > 1 ? dim.stride : extent);
  }
  return tensor;
}

// The dimensions of a convolution by what forms call them; `lhs`, `rhs`, `result` are strides.
class Former {
 public:
  explicit Former(const ConvolutionT& c) : c_(c), windows_(WindowsOf(c)) {}

  absl::StatusOr<ConvolutionForm> Form() {
    if (windows_.size() > kMostSpatialDims) return No("more than 3 spatial dimensions");
    const auto has = [&](auto holds) { return std::any_of(windows_.begin(), windows_.end(), holds); };
    const bool is_dilated = has([](const Window& w) { return w.lhs_dilation > 1; });
    const bool reads_backwards = has([](const Window& w) { return w.kernel > 1 && w.dilation < 0; });
    const bool reads_forwards = has([](const Window& w) { return w.kernel > 1 && w.dilation > 0; });
    if (reads_backwards && reads_forwards) return No("kernels read backwards along some dimensions only");
    if (is_dilated) return DataGradient(reads_forwards);
    if (reads_backwards) {
      absl::StatusOr<ConvolutionForm> gradient = DataGradient(false);
      return gradient.ok() ? gradient : Forward(true);
    }
    return IsFilterGradient() ? FilterGradient() : Forward(false);
  }

 private:
  // The dimensions that are reduced are then larger than those of the result.
  bool IsFilterGradient() const {
    double taps = 1, windows = 1;
    for (const Window& w : windows_) taps *= static_cast<double>(w.kernel), windows *= static_cast<double>(w.output);
    return taps > windows;
  }

  // Leaves out elements of the lhs that no window reads, for padding not to be negative; `first` is then the first one.
  absl::Status Crop(std::vector<Window>& windows, int64_t& first) const {
    for (Window& w : windows) {
      if (w.low < 0) {
        first -= w.low * w.lhs;
        w.input += w.low;
        w.low = 0;
      }
      w.input = std::min(w.input, End(w));
      if (w.input < 1) return No("windows that are entirely in the padding");
    }
    return absl::OkStatus();
  }

  // One behind the last position that windows read.
  static int64_t End(const Window& w) { return (w.output - 1) * w.stride + (w.kernel - 1) * w.dilation - w.low + 1; }

  std::vector<Dim> Lhs(const std::vector<Window>& windows) const {
    std::vector<Dim> dims;
    for (const Window& w : windows) dims.push_back({w.input, w.lhs});
    return dims;
  }
  std::vector<Dim> Rhs() const {
    std::vector<Dim> dims;
    for (const Window& w : windows_) dims.push_back({w.kernel, w.rhs});
    return dims;
  }
  std::vector<Dim> Result() const {
    std::vector<Dim> dims;
    for (const Window& w : windows_) dims.push_back({w.output, w.result});
    return dims;
  }

  absl::StatusOr<ConvolutionForm> Finish(ConvolutionForm form, absl::StatusOr<ConvolutionTensor> image,
                                         absl::StatusOr<ConvolutionTensor> filter,
                                         absl::StatusOr<ConvolutionTensor> response, int64_t first) const {
    for (const absl::Status& status : {image.status(), filter.status(), response.status()}) {
      if (!status.ok()) return status;
    }
    form.groups = static_cast<int64_t>(c_.groups->size());
    form.image = *std::move(image), form.filter = *std::move(filter), form.response = *std::move(response);
    form.image.first = first;
    return form;
  }

  // The image is the lhs, also of the filter's gradient, where windows and taps change places.
  absl::StatusOr<ConvolutionForm> Forward(bool flips) {
    std::vector<Window> windows = windows_;
    for (Window& w : windows) {
      if (!flips || w.dilation > 0) continue;
      w.low -= (w.kernel - 1) * w.dilation;
      w.dilation = -w.dilation;
    }
    int64_t first = 0;
    if (absl::Status status = Crop(windows, first); !status.ok()) return status;
    ConvolutionForm form;
    form.flips = flips;
    for (const Window& w : windows) {
      form.strides.push_back(w.stride);
      form.dilations.push_back(std::abs(w.dilation));
      form.before.push_back(w.low);
      form.after.push_back(End(w) - w.input);
    }
    const ConvolutionDim &n = *c_.batch, &g = *c_.groups, &c = *c_.inputs, &f = *c_.outputs;
    return Finish(std::move(form),
                  TensorOf(DimOf(n, n.lhs()), Merge(DimOf(g, g.lhs()), DimOf(c, c.lhs())), Lhs(windows)),
                  TensorOf(Merge(DimOf(g, g.rhs()), DimOf(f, f.rhs())), DimOf(c, c.rhs()), Rhs()),
                  TensorOf(DimOf(n, n.result()), Merge(DimOf(g, g.result()), DimOf(f, f.result())), Result()), first);
  }

  absl::StatusOr<ConvolutionForm> FilterGradient() {
    std::vector<Window> windows = windows_;
    int64_t first = 0;
    if (absl::Status status = Crop(windows, first); !status.ok()) return status;
    ConvolutionForm form;
    form.kind = ConvolutionKind::FilterGradient;
    for (const Window& w : windows) {
      form.strides.push_back(w.kernel > 1 ? w.dilation : 1);
      form.dilations.push_back(w.output > 1 ? w.stride : 1);
      form.before.push_back(w.low);
      form.after.push_back(End(w) - w.input);
    }
    const ConvolutionDim &n = *c_.batch, &g = *c_.groups, &c = *c_.inputs, &f = *c_.outputs;
    return Finish(std::move(form),
                  TensorOf(DimOf(c, c.lhs()), Merge(DimOf(g, g.lhs()), DimOf(n, n.lhs())), Lhs(windows)),
                  TensorOf(Merge(DimOf(g, g.result()), DimOf(f, f.result())), DimOf(n, n.result()), Result()),
                  TensorOf(DimOf(c, c.rhs()), Merge(DimOf(g, g.rhs()), DimOf(f, f.rhs())), Rhs()), first);
  }

  // The lhs is the response. Its element o has gone, by tap t, to o * lhs_dilation + t * dilation - before of the
  // image.
  absl::StatusOr<ConvolutionForm> DataGradient(bool flips) {
    ConvolutionForm form;
    form.kind = ConvolutionKind::DataGradient;
    form.flips = flips;
    for (const Window& w : windows_) {
      if (w.stride != 1 && w.output > 1) return No("strided windows over a dilated input");
      const int64_t dilation = w.kernel > 1 ? std::abs(w.dilation) : 1;
      const int64_t reach = (w.kernel - 1) * dilation;
      const int64_t before = w.kernel > 1 && flips ? reach - w.low : -w.low;
      const int64_t after = (w.input - 1) * w.lhs_dilation + reach + 1 - w.output - before;
      if (before < 0 || after <= -w.lhs_dilation) return No("results that no element of a dilated input reaches");
      form.strides.push_back(w.lhs_dilation);
      form.dilations.push_back(dilation);
      form.before.push_back(before);
      form.after.push_back(std::max<int64_t>(after, 0));
    }
    const ConvolutionDim &n = *c_.batch, &g = *c_.groups, &c = *c_.inputs, &f = *c_.outputs;
    return Finish(std::move(form),
                  TensorOf(DimOf(n, n.result()), Merge(DimOf(g, g.result()), DimOf(f, f.result())), Result()),
                  TensorOf(Merge(DimOf(g, g.rhs()), DimOf(c, c.rhs())), DimOf(f, f.rhs()), Rhs()),
                  TensorOf(DimOf(n, n.lhs()), Merge(DimOf(g, g.lhs()), DimOf(c, c.lhs())), Lhs(windows_)), 0);
  }

  const ConvolutionT& c_;
  std::vector<Window> windows_;
};

}  // namespace

absl::StatusOr<ConvolutionForm> ConvolutionFormOf(const ConvolutionT& convolution) {
  if (!IsFloat(convolution.element)) return No("elements that are no floats");
  const bool is_narrow = ElementSize(convolution.element) == 2;
  if (is_narrow && !convolution.rounds) return No("results that are wider than the operands");
  return Former(convolution).Form();
}

}  // namespace sgd::artifact
