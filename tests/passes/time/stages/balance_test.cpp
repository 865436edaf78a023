#include "passes/time/stages/balance.h"

#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

SmallVector<Piece> createPieces(ArrayRef<double> seconds) {
  SmallVector<Piece> pieces;
  for (double of : seconds) pieces.push_back({of, 1});
  return pieces;
}

TEST(BalanceTest, KeepsTheSlowestStageFast) {
  EXPECT_EQ(balance(createPieces({1, 1, 1, 1}), 2), (SmallVector<unsigned>{0, 0, 1, 1}));
  EXPECT_EQ(balance(createPieces({4, 1, 1, 2}), 2), (SmallVector<unsigned>{0, 1, 1, 1}));
  EXPECT_EQ(balance(createPieces({1, 1, 8, 1, 1}), 3), (SmallVector<unsigned>{0, 0, 1, 2, 2}));
}

TEST(BalanceTest, SendsLessWhereThatCostsLittleTime) {
  // In the middle of a layer two tensors would be sent.
  SmallVector<Piece> pieces{{1, 2}, {1, 1}, {0.05, 2}, {1, 2}, {1, 2}, {1, 1}};
  EXPECT_EQ(balance(pieces, 2), (SmallVector<unsigned>{0, 0, 1, 1, 1, 1}));
  pieces = {{1, 2}, {1, 2}, {1, 2}, {0.05, 1}, {1, 2}, {1, 2}, {1, 2}};
  EXPECT_EQ(balance(pieces, 2), (SmallVector<unsigned>{0, 0, 0, 0, 1, 1, 1}));
}

TEST(BalanceTest, GivesEveryStageAPieceWhileThereAreSome) {
  EXPECT_EQ(balance(createPieces({9, 0, 0}), 3), (SmallVector<unsigned>{0, 1, 2}));
  EXPECT_EQ(balance(createPieces({1, 1}), 4), (SmallVector<unsigned>{0, 1}));
  EXPECT_EQ(balance({}, 2), SmallVector<unsigned>());
}

}  // namespace
}  // namespace mlir::sgd
