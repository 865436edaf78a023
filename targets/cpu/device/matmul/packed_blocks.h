// Blocks of a matmul: panels of A and B, packed or in place, and their matmuls. The caller decides who
// packs which block when; the order of additions is that of k in any case.
#pragma once

#include <cstddef>
#include <cstdint>

#include "targets/cpu/device/matmul/packed_kernels.h"
#include "targets/cpu/device/threads/thread_pool.h"

namespace sgd::cpu {

// Rows of A or columns of B for some k, cut into panels as wide as the kernels take them.
struct Panels {
  uint64_t count = 0;                 // of panels
  uint64_t length = 0;                // rows or columns in all of them
  uint64_t direct = 0;                // so many panels are read in place
  const std::byte* base = nullptr;    // of them
  int64_t along_k = 0, across = 0;    // strides there
  int64_t block = 0;                  // elements between blocks of `along_k` columns of B; 0: there is one block
  const std::byte* packed = nullptr;  // the others, beginning with panel `first`
  uint64_t first = 0;
  uint64_t packed_bytes = 0;  // of each
};

// The memory that is read next, to be prefetched meanwhile: rows of bytes.
struct Ahead {
  const std::byte* base = nullptr;
  uint64_t rows = 0, row_bytes = 0;
  int64_t stride = 0;  // bytes
};

// A block of C and what it is computed from.
struct BlockMatmul {
  const PackedKernels* kernels = nullptr;
  uint64_t k = 0;
  Panels a, b;
  // For the first row and column of the panels; see MicroTile.
  std::byte* c = nullptr;
  int64_t c_m = 0;
  bool adds = false;
  const std::byte* column_bias = nullptr;
  const std::byte* row_bias = nullptr;
  bool relu = false;
  Ahead ahead;
  bool has_own_ahead = false;
  uint64_t calls = 1;  // matmuls of panels that prefetch all of it,
  uint64_t call = 0;   // and how many there have been
};

// Matmuls of the panels of A in `rows` and those of B in `columns`. Panels of B are read again for each
// of A where `rows_first`, those of A for each of B where not.
void MultiplyBlock(BlockMatmul& block, IndexRange rows, IndexRange columns, bool rows_first);

// Rows of A are split evenly over panels; panels of B are full except for the last one.
// At most so many rows to a panel, by the strides of A and the columns of the matmul.
uint64_t PanelRows(const PackedKernels& kernels, int64_t a_m, int64_t a_k, uint64_t columns);
uint64_t ColumnPanelCount(const PackedKernels& kernels, uint64_t columns);
// Of a panel of B, by the columns from its first one on: a last one that fits into one vector has only that.
uint64_t PackedWidth(const PackedKernels& kernels, uint64_t columns);
uint64_t RowPanelBytes(const PackedKernels& kernels, uint64_t k);
uint64_t ColumnPanelBytes(const PackedKernels& kernels, uint64_t k);

// Accumulates over so many k at a time, then adds to C: multiplications per element of C that have their
// operands in the first and second level of cache. Depends on k and the element type alone.
uint64_t BlockDepth(const PackedKernels& kernels, uint64_t k);
uint64_t MostBlockDepth(const PackedKernels& kernels);

// Whether A is better read in place than packed for a matmul with `columns` columns. Strides of elements of
// `size` bytes.
bool ReadsRowsDirectly(int64_t a_m, int64_t a_k, uint64_t size, uint64_t columns);

// Packs panels `panels` of a matrix with `length` rows (columns) whose first element, at the block's first k, is at
// `base`. The first of them goes to `target`.
struct Operand {
  const std::byte* base;
  int64_t along_k, across;
  uint64_t element_size;
  uint64_t length;
};
// `count`: of panels that the rows are dealt to.
void PackRows(const PackedKernels& kernels, const Operand& a, uint64_t k, uint64_t count, IndexRange panels,
              std::byte* target);
void PackColumns(const PackedKernels& kernels, const Operand& b, uint64_t k, IndexRange panels, std::byte* target);

}  // namespace sgd::cpu
