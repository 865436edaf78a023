// Writes programs as StableHLO text, op by op.
#ifndef SGD_COMPILER_MODELS_GRAPH_TEXT_H
#define SGD_COMPILER_MODELS_GRAPH_TEXT_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// A value of the text: its name, as `%3`, and its type.
struct TensorText {
  std::string name;
  llvm::SmallVector<int64_t> dims;
  std::string element;

  std::string getType() const;
};

/// One function, `main`. Operands must fit: the text is checked when it is parsed.
class GraphText {
 public:
  /// `path` is the name that the argument has for users, such as `state['count']`.
  TensorText addArgument(llvm::StringRef path, llvm::ArrayRef<int64_t> dims, llvm::StringRef element);
  /// `argument` is the one that has the result's memory, where it is not null.
  void addResult(llvm::StringRef path, const TensorText& value, const TensorText* argument = nullptr);
  std::string getText() const;

  /// `value` is finite, or in f32 minus infinity.
  TensorText constant(double value, llvm::ArrayRef<int64_t> dims, llvm::StringRef element);
  TensorText iota(int64_t dim, llvm::ArrayRef<int64_t> dims);
  /// add, subtract, multiply, divide, maximum.
  TensorText binary(llvm::StringRef op, const TensorText& lhs, const TensorText& rhs);
  TensorText scale(const TensorText& value, double factor);
  /// exponential, log, tanh, rsqrt, sqrt, negate.
  TensorText unary(llvm::StringRef op, const TensorText& value);
  TensorText convert(const TensorText& value, llvm::StringRef element);
  /// Dimension i of `value` is dimension `positions[i]` of the result.
  TensorText broadcast(const TensorText& value, llvm::ArrayRef<int64_t> positions, llvm::ArrayRef<int64_t> dims);
  TensorText reshape(const TensorText& value, llvm::ArrayRef<int64_t> dims);
  TensorText transpose(const TensorText& value, llvm::ArrayRef<int64_t> permutation);
  /// Element `index` of dimension `dim`, which stays, of one element.
  TensorText slice(const TensorText& value, int64_t dim, int64_t index);
  TensorText concatenate(llvm::ArrayRef<TensorText> values, int64_t dim);
  /// Over `dims`, by add, or in f32 by maximum.
  TensorText reduce(llvm::StringRef op, const TensorText& value, llvm::ArrayRef<int64_t> dims);
  TensorText compare(llvm::StringRef direction, const TensorText& lhs, const TensorText& rhs);
  TensorText select(const TensorText& condition, const TensorText& yes, const TensorText& no);
  TensorText dot(const TensorText& lhs, const TensorText& rhs, llvm::ArrayRef<int64_t> lhsBatch,
                 llvm::ArrayRef<int64_t> rhsBatch, llvm::ArrayRef<int64_t> lhsContracting,
                 llvm::ArrayRef<int64_t> rhsContracting, llvm::StringRef element);
  /// Rows of `table` by `indices` [batch, positions].
  TensorText lookUp(const TensorText& table, const TensorText& indices);
  /// The sum of `rows` [batch, positions, columns] by their index, as a table of so many rows.
  TensorText addRows(const TensorText& rows, const TensorText& indices, int64_t count);
  /// The same values, which are not to be computed before the others.
  llvm::SmallVector<TensorText> barrier(llvm::ArrayRef<TensorText> values);

 private:
  TensorText define(llvm::ArrayRef<int64_t> dims, llvm::StringRef element, const std::string& op);

  struct Argument {
    std::string text, path;
    std::optional<unsigned> result;  // that has its memory
  };

  std::vector<Argument> arguments;
  std::string body, results, resultNames, resultTypes;
  unsigned numResults = 0, numValues = 0;
};

}  // namespace mlir::sgd

#endif
