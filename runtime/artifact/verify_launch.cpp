// The operands of a kernel are in the artifact's table of kernels, written by the code generator that made it.
#include "runtime/artifact/verify_launch.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/invalid.h"
#include "runtime/artifact/reader.h"

namespace sgd::artifact {
namespace {

std::string NameOf(const Kernel& kernel) {
  return absl::StrCat("kernel '", absl::CEscape(kernel.symbol()->str()), "'");
}

absl::Status VerifyKernel(const Artifact& root, const Kernel& kernel) {
  if (kernel.range() > static_cast<uint64_t>(INT64_MAX)) return Invalid("its range is larger than 2^63");
  if (kernel.outputs() > Size(kernel.least_bytes())) {
    return Invalid(absl::StrCat(kernel.outputs(), " of its ", Size(kernel.least_bytes()), " buffers are outputs"));
  }
  if (Size(kernel.elements()) != 0 && Size(kernel.elements()) != Size(kernel.least_bytes())) {
    return Invalid(absl::StrCat("the elements of ", Size(kernel.elements()), " of its ", Size(kernel.least_bytes()),
                                " buffers are known; expected all or none"));
  }
  for (uint32_t i = 0; i < Size(kernel.elements()); ++i) {
    if (!IsOfInstructions(static_cast<ElementType>(kernel.elements()->Get(i))))
      return Invalid(absl::StrCat("buffer ", i, " has elements of no type that instructions know"));
  }
  if (Size(kernel.parts()) == 0) return absl::OkStatus();
  if (Size(kernel.least_bytes()) != 0 || kernel.coordinates() != 0 || kernel.range() != 0)
    return Invalid("it is combined of others and takes buffers, coordinates or a range of its own");
  for (uint32_t part : *kernel.parts()) {
    if (part >= Size(root.kernels()) || Size(root.kernels()->Get(part)->parts()) != 0) {
      return Invalid(absl::StrCat("it is combined of kernel ", part, " of ", Size(root.kernels()),
                                  ", which does not exist or is combined itself"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<const Kernel*> FindKernel(const VerifyContext& context, uint32_t number) {
  if (number < Size(context.kernels)) return context.kernels->Get(number);
  return Invalid(absl::StrCat("kernel ", number, " does not exist (there are ", Size(context.kernels), ")"));
}

absl::Status VerifyRange(const Launch& launch, const Kernel& kernel) {
  if (launch.grain() == 0 || launch.grain() > static_cast<uint64_t>(INT64_MAX)) {
    return Invalid("the grain must be between 1 and 2^63");
  }
  if (launch.range() <= kernel.range()) return absl::OkStatus();
  return Invalid(
      absl::StrCat("the range ", launch.range(), " is larger than the ", kernel.range(), " of ", NameOf(kernel)));
}

absl::Status VerifyBuffer(const VerifyContext& context, const Launch& launch, const Kernel& kernel, uint32_t index) {
  const Slice* slice = launch.buffers()->Get(index);
  const bool is_output = index + launch.outputs() >= Size(launch.buffers());
  const std::string what = absl::StrCat("buffer ", index);
  if (absl::Status status = VerifySlice(context, slice, what); !status.ok()) return status;
  if (is_output) {
    if (absl::Status status = VerifyWritable(context, slice, absl::StrCat("output ", what)); !status.ok())
      return status;
  }
  if (slice->size() != 0 && slice->offset() % kBufferAlignment != 0) {
    return Invalid(absl::StrCat(what, " is not aligned to ", kBufferAlignment, " bytes"));
  }
  if (const uint64_t least = kernel.least_bytes()->Get(index); slice->size() < least) {
    return Invalid(absl::StrCat(what, " has ", slice->size(), " bytes where ", NameOf(kernel), " needs ", least));
  }
  return absl::OkStatus();
}

struct Buffer {
  Range range;
  bool is_output;
};

// Kernels are compiled for outputs that no other buffer shares bytes with.
absl::Status VerifyApart(const Launch& launch) {
  std::vector<Buffer> buffers;
  const uint32_t count = static_cast<uint32_t>(Size(launch.buffers()));
  for (uint32_t i = 0; i < count; ++i) {
    const Slice& slice = *launch.buffers()->Get(i);
    if (slice.size() != 0) buffers.push_back({RangeOf(slice), i + launch.outputs() >= count});
  }
  std::ranges::sort(buffers, {},
                    [](const Buffer& buffer) { return std::pair(buffer.range.space, buffer.range.begin); });
  // How far those before it in its space reach: all of them, and the outputs.
  Range all{}, outputs{};
  for (const Buffer& buffer : buffers) {
    if (buffer.range.space != all.space) all = outputs = {buffer.range.space, 0, 0};
    if (buffer.range.begin < (buffer.is_output ? all : outputs).end)
      return Invalid("an output buffer overlaps another buffer");
    all.end = std::max(all.end, buffer.range.end);
    if (buffer.is_output) outputs.end = std::max(outputs.end, buffer.range.end);
  }
  return absl::OkStatus();
}

absl::Status VerifyCoordinates(const VerifyContext& context, const Launch& launch, const Kernel& kernel) {
  if (Size(launch.coordinates()) != kernel.coordinates()) {
    return Invalid(absl::StrCat(Size(launch.coordinates()), " coordinates where ", NameOf(kernel), " takes ",
                                kernel.coordinates()));
  }
  for (uint32_t i = 0; i < kernel.coordinates(); ++i) {
    absl::Status status = comm::CheckAxes(context.mesh, AxesOf(launch.coordinates()->Get(i)->axes()));
    if (!status.ok()) return Invalid(absl::StrCat("coordinate: ", status.message()));
  }
  return absl::OkStatus();
}

// The launches of a combined one are those that its kernel was made for.
absl::Status VerifyParts(const LaunchGroup& group, const CombinedLaunches& combined, const Kernel& kernel) {
  if (Size(kernel.parts()) != Size(combined.launches())) {
    return Invalid(absl::StrCat(Size(combined.launches()), " launches are combined where ", NameOf(kernel),
                                " is made of ", Size(kernel.parts())));
  }
  for (uint32_t i = 0; i < Size(kernel.parts()); ++i) {
    const uint32_t launch = combined.launches()->Get(i), actual = group.launches()->Get(launch)->kernel();
    if (actual != kernel.parts()->Get(i)) {
      return Invalid(absl::StrCat("launch ", launch, " is of kernel ", actual, " where ", NameOf(kernel),
                                  " has kernel ", kernel.parts()->Get(i)));
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyCombined(const VerifyContext& context, const LaunchGroup& group, const CombinedLaunches& combined,
                            std::vector<bool>& is_combined) {
  absl::StatusOr<const Kernel*> kernel = FindKernel(context, combined.kernel());
  if (!kernel.ok()) return Invalid(absl::StrCat("combined ", kernel.status().message()));
  for (uint32_t launch : *combined.launches()) {
    if (launch >= is_combined.size() || is_combined[launch]) {
      return Invalid(
          absl::StrCat("launch ", launch, " of ", is_combined.size(), " is combined twice or does not exist"));
    }
    is_combined[launch] = true;
  }
  return VerifyParts(group, combined, **kernel);
}

}  // namespace

absl::Status VerifyKernels(const Artifact& root) {
  for (uint32_t i = 0; i < Size(root.kernels()); ++i) {
    const Kernel& kernel = *root.kernels()->Get(i);
    absl::Status status = VerifyKernel(root, kernel);
    if (!status.ok()) return Invalid(absl::StrCat(NameOf(kernel), ": ", status.message()));
  }
  return absl::OkStatus();
}

absl::Status VerifyLaunch(const VerifyContext& context, const Launch& launch, bool is_combined) {
  absl::StatusOr<const Kernel*> found = FindKernel(context, launch.kernel());
  if (!found.ok()) return found.status();
  const Kernel& kernel = **found;
  if (Size(kernel.parts()) != 0 || (kernel.only_combined() && !is_combined))
    return Invalid(absl::StrCat(NameOf(kernel), " does not run alone"));
  if (Size(launch.buffers()) != Size(kernel.least_bytes()) ||
      (Size(launch.buffers()) != 0 && launch.outputs() != kernel.outputs())) {
    return Invalid(absl::StrCat(Size(launch.buffers()), " buffers with ", launch.outputs(), " outputs where ",
                                NameOf(kernel), " takes ", Size(kernel.least_bytes()), " with ", kernel.outputs()));
  }
  if (absl::Status status = VerifyRange(launch, kernel); !status.ok()) return status;
  for (uint32_t i = 0; i < Size(launch.buffers()); ++i) {
    if (absl::Status status = VerifyBuffer(context, launch, kernel, i); !status.ok()) return status;
  }
  if (Size(launch.buffers()) != 0) {
    if (absl::Status status = VerifyApart(launch); !status.ok()) return status;
  }
  return VerifyCoordinates(context, launch, kernel);
}

absl::Status VerifyLaunchGroup(const VerifyContext& context, const LaunchGroup& group) {
  const uint32_t count = static_cast<uint32_t>(Size(group.launches()));
  if (count == 0) return Invalid("the group has no launches");
  std::vector<bool> is_combined(count, false);
  for (uint32_t i = 0; i < Size(group.combined()); ++i) {
    absl::Status status = VerifyCombined(context, group, *group.combined()->Get(i), is_combined);
    if (!status.ok()) return status;
  }
  for (uint32_t i = 0; i < count; ++i) {
    absl::Status status = VerifyLaunch(context, *group.launches()->Get(i), is_combined[i]);
    if (!status.ok()) return Invalid(absl::StrCat("launch ", i, ": ", std::string(status.message())));
  }
  return absl::OkStatus();
}

}  // namespace sgd::artifact
