#include "compiler/models/graph_text.h"

#include <limits>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::sgd;
using llvm::ArrayRef;
using llvm::StringRef;

static std::string join(ArrayRef<int64_t> numbers) {
  std::string text;
  for (int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

static std::string getType(ArrayRef<int64_t> dims, StringRef element) {
  std::string text = "tensor<";
  for (int64_t dim : dims) text += std::to_string(dim) + "x";
  return text + element.str() + ">";
}

std::string TensorText::getType() const { return ::getType(dims, element); }

TensorText GraphText::addArgument(StringRef path, ArrayRef<int64_t> dims, StringRef element) {
  TensorText argument{"%arg" + std::to_string(arguments.size()), llvm::SmallVector<int64_t>(dims), element.str()};
  arguments.push_back({argument.name + ": " + argument.getType(), path.str(), std::nullopt});
  return argument;
}

void GraphText::addResult(StringRef path, const TensorText& value, const TensorText* argument) {
  const char* comma = numResults == 0 ? "" : ", ";
  results += comma + value.getType() + " {jax.result_info = \"" + path.str() + "\"}";
  resultNames += comma + value.name;
  resultTypes += comma + value.getType();
  if (argument) {
    unsigned number = 0;
    StringRef(argument->name).drop_front(StringRef("%arg").size()).getAsInteger(10, number);
    arguments[number].result = numResults;
  }
  ++numResults;
}

std::string GraphText::getText() const {
  std::string text = "module {\n  func.func public @main(";
  for (const Argument& argument : arguments) {
    text += (&argument == &arguments.front() ? "" : ", ") + argument.text;
    if (argument.result) text += " {tf.aliasing_output = " + std::to_string(*argument.result) + " : i32}";
    text += " loc(\"" + argument.path + "\")";
  }
  return text + ") -> (" + results + ") {\n" + body + "    return " + resultNames + " : " + resultTypes + "\n  }\n}\n";
}

TensorText GraphText::define(ArrayRef<int64_t> dims, StringRef element, const std::string& op) {
  TensorText value{"%" + std::to_string(numValues++), llvm::SmallVector<int64_t>(dims), element.str()};
  body += "    " + value.name + " = " + op + "\n";
  return value;
}

TensorText GraphText::constant(double value, ArrayRef<int64_t> dims, StringRef element) {
  std::string number;
  llvm::raw_string_ostream(number) << llvm::format("%.9e", value);
  if (value == -std::numeric_limits<double>::infinity()) number = "0xFF800000";
  return define(dims, element, "stablehlo.constant dense<" + number + "> : " + ::getType(dims, element));
}

TensorText GraphText::iota(int64_t dim, ArrayRef<int64_t> dims) {
  return define(dims, "i32", "stablehlo.iota dim = " + std::to_string(dim) + " : " + ::getType(dims, "i32"));
}

TensorText GraphText::binary(StringRef op, const TensorText& lhs, const TensorText& rhs) {
  return define(lhs.dims, lhs.element,
                "stablehlo." + op.str() + " " + lhs.name + ", " + rhs.name + " : " + lhs.getType());
}

TensorText GraphText::scale(const TensorText& value, double factor) {
  return binary("multiply", value, broadcast(constant(factor, {}, value.element), {}, value.dims));
}

TensorText GraphText::unary(StringRef op, const TensorText& value) {
  return define(value.dims, value.element, "stablehlo." + op.str() + " " + value.name + " : " + value.getType());
}

TensorText GraphText::convert(const TensorText& value, StringRef element) {
  if (value.element == element) return value;
  return define(
      value.dims, element,
      "stablehlo.convert " + value.name + " : (" + value.getType() + ") -> " + ::getType(value.dims, element));
}

TensorText GraphText::broadcast(const TensorText& value, ArrayRef<int64_t> positions, ArrayRef<int64_t> dims) {
  return define(dims, value.element,
                "stablehlo.broadcast_in_dim " + value.name + ", dims = [" + join(positions) + "] : (" +
                    value.getType() + ") -> " + ::getType(dims, value.element));
}

TensorText GraphText::reshape(const TensorText& value, ArrayRef<int64_t> dims) {
  return define(
      dims, value.element,
      "stablehlo.reshape " + value.name + " : (" + value.getType() + ") -> " + ::getType(dims, value.element));
}

TensorText GraphText::transpose(const TensorText& value, ArrayRef<int64_t> permutation) {
  llvm::SmallVector<int64_t> dims;
  for (int64_t dim : permutation) dims.push_back(value.dims[dim]);
  return define(dims, value.element,
                "stablehlo.transpose " + value.name + ", dims = [" + join(permutation) + "] : (" + value.getType() +
                    ") -> " + ::getType(dims, value.element));
}

TensorText GraphText::slice(const TensorText& value, int64_t dim, int64_t index) {
  std::string ranges;
  for (auto [number, size] : llvm::enumerate(value.dims)) {
    bool isCut = static_cast<int64_t>(number) == dim;
    ranges += (ranges.empty() ? "" : ", ") + std::to_string(isCut ? index : 0) + ":" +
              std::to_string(isCut ? index + 1 : size);
  }
  llvm::SmallVector<int64_t> dims = value.dims;
  dims[dim] = 1;
  return define(dims, value.element,
                "stablehlo.slice " + value.name + " [" + ranges + "] : (" + value.getType() + ") -> " +
                    ::getType(dims, value.element));
}

TensorText GraphText::concatenate(ArrayRef<TensorText> values, int64_t dim) {
  std::string names, types;
  llvm::SmallVector<int64_t> dims = values.front().dims;
  dims[dim] = 0;
  for (const TensorText& value : values) {
    names += value.name + ", ";
    types += (types.empty() ? "" : ", ") + value.getType();
    dims[dim] += value.dims[dim];
  }
  return define(dims, values.front().element,
                "stablehlo.concatenate " + names + "dim = " + std::to_string(dim) + " : (" + types + ") -> " +
                    ::getType(dims, values.front().element));
}

TensorText GraphText::reduce(StringRef op, const TensorText& value, ArrayRef<int64_t> over) {
  TensorText start = constant(op == "maximum" ? -std::numeric_limits<double>::infinity() : 0, {}, value.element);
  llvm::SmallVector<int64_t> dims;
  for (auto [dim, size] : llvm::enumerate(value.dims))
    if (!llvm::is_contained(over, static_cast<int64_t>(dim))) dims.push_back(size);
  return define(dims, value.element,
                "stablehlo.reduce(" + value.name + " init: " + start.name + ") applies stablehlo." + op.str() +
                    " across dimensions = [" + join(over) + "] : (" + value.getType() + ", " + start.getType() +
                    ") -> " + ::getType(dims, value.element));
}

TensorText GraphText::compare(StringRef direction, const TensorText& lhs, const TensorText& rhs) {
  return define(lhs.dims, "i1",
                "stablehlo.compare " + direction.str() + ", " + lhs.name + ", " + rhs.name + ", SIGNED : (" +
                    lhs.getType() + ", " + rhs.getType() + ") -> " + ::getType(lhs.dims, "i1"));
}

TensorText GraphText::select(const TensorText& condition, const TensorText& yes, const TensorText& no) {
  return define(yes.dims, yes.element,
                "stablehlo.select " + condition.name + ", " + yes.name + ", " + no.name + " : " + condition.getType() +
                    ", " + yes.getType());
}

TensorText GraphText::dot(const TensorText& lhs, const TensorText& rhs, ArrayRef<int64_t> lhsBatch,
                          ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContracting,
                          ArrayRef<int64_t> rhsContracting, StringRef element) {
  llvm::SmallVector<int64_t> dims;
  for (int64_t dim : lhsBatch) dims.push_back(lhs.dims[dim]);
  auto addFree = [&](const TensorText& operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting) {
    for (auto [dim, size] : llvm::enumerate(operand.dims))
      if (!llvm::is_contained(batch, static_cast<int64_t>(dim)) &&
          !llvm::is_contained(contracting, static_cast<int64_t>(dim)))
        dims.push_back(size);
  };
  addFree(lhs, lhsBatch, lhsContracting);
  addFree(rhs, rhsBatch, rhsContracting);
  std::string batch;
  if (!lhsBatch.empty()) batch = ", batching_dims = [" + join(lhsBatch) + "] x [" + join(rhsBatch) + "]";
  return define(dims, element,
                "stablehlo.dot_general " + lhs.name + ", " + rhs.name + batch + ", contracting_dims = [" +
                    join(lhsContracting) + "] x [" + join(rhsContracting) + "] : (" + lhs.getType() + ", " +
                    rhs.getType() + ") -> " + ::getType(dims, element));
}

TensorText GraphText::lookUp(const TensorText& table, const TensorText& indices) {
  TensorText column = reshape(indices, {indices.dims[0], indices.dims[1], 1});
  llvm::SmallVector<int64_t> dims{indices.dims[0], indices.dims[1], table.dims[1]};
  return define(dims, table.element,
                "\"stablehlo.gather\"(" + table.name + ", " + column.name +
                    ") <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], "
                    "start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = "
                    "array<i64: 1, " +
                    std::to_string(table.dims[1]) + ">}> : (" + table.getType() + ", " + column.getType() + ") -> " +
                    ::getType(dims, table.element));
}

TensorText GraphText::addRows(const TensorText& rows, const TensorText& indices, int64_t count) {
  TensorText column = reshape(indices, {indices.dims[0], indices.dims[1], 1});
  TensorText zero = constant(0, {count, rows.dims[2]}, rows.element);
  std::string scalar = ::getType({}, rows.element);
  return define(zero.dims, rows.element,
                "\"stablehlo.scatter\"(" + zero.name + ", " + column.name + ", " + rows.name +
                    ") <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims "
                    "= [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, "
                    "unique_indices = false}> ({\n    ^bb0(%a: " +
                    scalar + ", %b: " + scalar + "):\n      %s = stablehlo.add %a, %b : " + scalar +
                    "\n      stablehlo.return %s : " + scalar + "\n    }) : (" + zero.getType() + ", " +
                    column.getType() + ", " + rows.getType() + ") -> " + zero.getType());
}

llvm::SmallVector<TensorText> GraphText::barrier(ArrayRef<TensorText> values) {
  std::string base = "%" + std::to_string(numValues++), names, types;
  llvm::SmallVector<TensorText> held;
  for (auto [index, value] : llvm::enumerate(values)) {
    names += (index == 0 ? "" : ", ") + value.name;
    types += (index == 0 ? "" : ", ") + value.getType();
    std::string name = values.size() == 1 ? base : base + "#" + std::to_string(index);
    held.push_back({name, value.dims, value.element});
  }
  std::string count = values.size() == 1 ? "" : ":" + std::to_string(values.size());
  body += "    " + base + count + " = stablehlo.optimization_barrier " + names + " : " + types + "\n";
  return held;
}
