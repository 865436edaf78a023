// Row-major matrices to column-major ones and back.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sgd::cpu {

// Writes the row-major matrix `from` of `rows` by `columns` to `to`, column-major. Square tiles, so that a cache line
// that is read or written stays until all of it is.
template <typename T>
void Transpose(const T* from, uint64_t rows, uint64_t columns, T* to) {
  constexpr uint64_t kTile = 32;
  for (uint64_t row0 = 0; row0 < rows; row0 += kTile) {
    const uint64_t row1 = std::min(rows, row0 + kTile);
    for (uint64_t column0 = 0; column0 < columns; column0 += kTile) {
      const uint64_t column1 = std::min(columns, column0 + kTile);
      for (uint64_t row = row0; row < row1; ++row) {
        for (uint64_t column = column0; column < column1; ++column)
          to[column * rows + row] = from[row * columns + column];
      }
    }
  }
}

}  // namespace sgd::cpu
