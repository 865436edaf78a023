// Cumulative ops as kernels, by value: short rows that share blocks, rows of one to many tiles, columns, every kind.
#include <gtest/gtest.h>

#include "tests/targets/kernels/kernel_check.h"

using namespace mlir::sgd::kernels;

namespace {

std::string scan(const std::string& kind, std::initializer_list<int> dims, int dimension, const std::string& type,
                 bool isReverse) {
  std::string tensor = shape(dims, type);
  return cluster(tensor, tensor, "%x: " + tensor,
                 "%0 = sgd.cumulative " + kind + " %x dimension = " + std::to_string(dimension) +
                     (isReverse ? " reverse" : "") + " : " + tensor + "\nfusion.yield %0 : " + tensor);
}

void checkBothWays(const std::string& kind, std::initializer_list<int> dims, int dimension, const std::string& type,
                   double tolerance = 1e-5) {
  for (bool isReverse : {false, true}) {
    SCOPED_TRACE(kind + " " + shape(dims, type) + (isReverse ? " reverse" : ""));
    check(scan(kind, dims, dimension, type, isReverse), tolerance);
  }
}

TEST(Scan, Rows) {
  for (int length : {1, 2, 3, 7, 31, 33, 64, 127, 256, 257, 1000, 1024, 3000})
    checkBothWays("add", {5, length}, 1, "f32");
  checkBothWays("add", {300, 5}, 1, "f32");
  checkBothWays("add", {70, 24}, 1, "f32");
}

TEST(Scan, KindsAndTypes) {
  for (const char* kind : {"add", "max", "min", "mul"}) checkBothWays(kind, {3, 130}, 1, "f64");
  for (const char* kind : {"add", "umax", "umin", "xor", "and", "or", "max", "min", "mul"})
    checkBothWays(kind, {3, 260}, 1, "i32", 0);
  checkBothWays("max", {2, 512}, 1, "bf16", 0);
  checkBothWays("add", {2, 600}, 1, "i64", 0);
  checkBothWays("or", {2, 300}, 1, "i1", 0);
  checkBothWays("add", {2, 640}, 1, "i8", 0);
}

TEST(Scan, Columns) {
  checkBothWays("add", {3, 17, 5}, 1, "f32");
  checkBothWays("add", {9, 300}, 0, "f32");
  checkBothWays("max", {2, 6, 256}, 1, "bf16", 0);
}

TEST(Scan, NothingToDo) {
  checkBothWays("add", {0, 7}, 1, "f32");
  checkBothWays("add", {7, 0}, 1, "f32");
}

}  // namespace
