// A kernel that is read backwards becomes one that is read forwards from its last element.
#include "targets/cpu/device/convolution/grouped_problem.h"

#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"
#include "runtime/artifact/reader.h"

namespace sgd::cpu {
namespace {

WindowSpace SpaceOf(const artifact::WindowDim& dim, int64_t size, GroupedProblem& problem) {
  WindowSpace space{static_cast<int64_t>(dim.input()),
                    static_cast<int64_t>(dim.output()),
                    static_cast<int64_t>(dim.kernel()),
                    dim.stride(),
                    dim.dilation(),
                    dim.low(),
                    dim.lhs(),
                    dim.rhs(),
                    dim.result()};
  if (space.dilation < 0) {
    space.low -= (space.kernel - 1) * space.dilation;
    problem.rhs += (space.kernel - 1) * space.rhs * size;
    space.dilation = -space.dilation, space.rhs = -space.rhs;
  }
  return space;
}

}  // namespace

GroupedProblem GroupedProblemOf(const artifact::Convolution& c, const device::MemoryMap& memory) {
  GroupedProblem p;
  const int64_t size = static_cast<int64_t>(artifact::ElementSize(c.element()));
  p.batch = c.batch()->size(), p.groups = c.groups()->size();
  p.inputs = c.inputs()->size(), p.outputs = c.outputs()->size();
  p.lhs_batch = c.batch()->lhs(), p.lhs_group = c.groups()->lhs(), p.lhs_input = c.inputs()->lhs();
  p.rhs_group = c.groups()->rhs(), p.rhs_input = c.inputs()->rhs(), p.rhs_output = c.outputs()->rhs();
  p.result_batch = c.batch()->result();
  p.epilogue = artifact::EpilogueOf(c.epilogue());
  p.lhs = memory.Address(*c.lhs()), p.rhs = memory.Address(*c.rhs()), p.result = memory.Address(*c.result());
  if (c.bias() != nullptr) p.bias = memory.Address(*c.bias());
  const uint32_t count = artifact::Size(c.spatial());
  for (uint32_t i = 0; i < count; ++i) {
    const WindowSpace space = SpaceOf(*c.spatial()->Get(i), size, p);
    if (i + 1 < count) {
      p.outer.push_back(space);
    } else {
      p.inner = space;
    }
  }
  return p;
}

std::vector<int64_t> Coordinates(const std::vector<WindowSpace>& dims, int64_t WindowSpace::* size, uint64_t index) {
  std::vector<int64_t> at(dims.size());
  for (size_t dim = dims.size(); dim-- > 0;) {
    at[dim] = static_cast<int64_t>(index) % (dims[dim].*size);
    index /= static_cast<uint64_t>(dims[dim].*size);
  }
  return at;
}

uint64_t Product(const std::vector<WindowSpace>& dims, int64_t WindowSpace::* size) {
  uint64_t product = 1;
  for (const WindowSpace& space : dims) product *= static_cast<uint64_t>(space.*size);
  return product;
}

}  // namespace sgd::cpu
