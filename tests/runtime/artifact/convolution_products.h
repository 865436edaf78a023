// The products that a convolution sums, as program.fbs says it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/artifact/program_generated.h"

namespace sgd::testing {

using Index = std::vector<int64_t>;

// All indices below `sizes`, row-major.
inline void ForEach(const Index& sizes, const std::function<void(const Index&)>& body) {
  for (int64_t size : sizes)
    if (size == 0) return;
  Index index(sizes.size(), 0);
  for (;;) {
    body(index);
    size_t dim = index.size();
    while (dim > 0 && ++index[dim - 1] == sizes[dim - 1]) index[--dim] = 0;
    if (dim == 0) return;
  }
}

// n, g, f, then windows.
inline Index ResultSizes(const artifact::ConvolutionT& c) {
  Index sizes = {static_cast<int64_t>(c.batch->size()), static_cast<int64_t>(c.groups->size()),
                 static_cast<int64_t>(c.outputs->size())};
  for (const artifact::WindowDim& dim : c.spatial) sizes.push_back(static_cast<int64_t>(dim.output()));
  return sizes;
}

inline int64_t ResultPlace(const artifact::ConvolutionT& c, const Index& at) {
  int64_t place = at[0] * c.batch->result() + at[1] * c.groups->result() + at[2] * c.outputs->result();
  for (size_t i = 0; i < c.spatial.size(); ++i) place += at[i + 3] * c.spatial[i].result();
  return place;
}

// With the places of all elements of the result.
inline void ForEachResult(const artifact::ConvolutionT& c, const std::function<void(int64_t)>& body) {
  ForEach(ResultSizes(c), [&](const Index& at) { body(ResultPlace(c, at)); });
}

// With the places of result, lhs and rhs; products with the zeros around and between elements are left out.
inline void ForEachProduct(const artifact::ConvolutionT& c,
                           const std::function<void(int64_t, int64_t, int64_t)>& body) {
  Index taps = {static_cast<int64_t>(c.inputs->size())};
  for (const artifact::WindowDim& dim : c.spatial) taps.push_back(static_cast<int64_t>(dim.kernel()));
  ForEach(ResultSizes(c), [&](const Index& at) {
    ForEach(taps, [&](const Index& tap) {
      int64_t lhs = at[0] * c.batch->lhs() + at[1] * c.groups->lhs() + tap[0] * c.inputs->lhs();
      int64_t rhs = at[1] * c.groups->rhs() + tap[0] * c.inputs->rhs() + at[2] * c.outputs->rhs();
      for (size_t i = 0; i < c.spatial.size(); ++i) {
        const artifact::WindowDim& dim = c.spatial[i];
        const int64_t position = at[i + 3] * dim.stride() + tap[i + 1] * dim.dilation() - dim.low();
        const int64_t dilation = c.lhs_dilations.empty() ? 1 : c.lhs_dilations[i];
        if (position < 0 || position % dilation != 0 || position / dilation >= static_cast<int64_t>(dim.input()))
          return;
        lhs += position / dilation * dim.lhs();
        rhs += tap[i + 1] * dim.rhs();
      }
      body(ResultPlace(c, at), lhs, rhs);
    });
  });
}

}  // namespace sgd::testing
