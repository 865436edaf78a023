#include "runtime/linear_algebra/transform.h"

namespace sgd::linear_algebra {

std::vector<Tensor> TransformTensors(const Form& form, uint64_t size, bool is_real, bool is_paired) {
  std::vector<Dim> dims = {{form.k}, {form.m}, {size}};
  dims.erase(dims.begin(), dims.end() - DimsOf(form.kind, form.options));
  if (is_real) return {{"x", dims}};
  if (!is_paired) return {{"real part", dims}, {"imaginary part", dims}};
  dims.push_back({2});
  return {{"pairs", dims}};
}

std::string WhyNoTransform(const Form& form) {
  const std::string name = KindName(form.kind);
  const uint32_t dims = DimsOf(form.kind, form.options);
  if (dims > 3) return name + " over two and over three dimensions";
  if (form.k == 0 || form.m == 0 || form.n == 0) return name + " of no elements";
  if ((dims < 3 && form.k != 1) || (dims < 2 && form.m != 1)) return name + " of more dimensions than are transformed";
  if (form.kind == Kind::kInverseRealFft && (form.n % 2 == 1) != form.Has(kOddLength))
    return name + " of another length than its option says";
  if (form.m > kMostElements || form.n > kMostElements || form.k > kMostElements || form.m * form.n > kMostElements ||
      form.k > kMostElements / (form.m * form.n))
    return name + " of more than 2^31 - 1 elements";
  return "";
}

uint64_t TransformWork(const Form& form) {
  uint64_t work = 0;
  if (form.kind == Kind::kInverseRealFft && form.m * form.k > 1) work += 2 * form.k * form.m * (form.n / 2 + 1);
  if (form.n > kMostRowOfThread) work += (form.kind == Kind::kFft ? 3 : 7) * form.n + 64;
  return work;
}

uint64_t TransformFlops(const Form& form) {
  const uint64_t numbers = form.k * form.m * form.n;
  uint64_t passes = 1;
  while (numbers >> passes != 0) ++passes;
  return (form.kind == Kind::kFft ? 5 : 3) * numbers * passes;
}

}  // namespace sgd::linear_algebra
