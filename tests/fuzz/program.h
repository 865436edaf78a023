// A program of the graph level under construction: arguments, ops and shardings, as text.
#ifndef SGD_TESTS_FUZZ_PROGRAM_H
#define SGD_TESTS_FUZZ_PROGRAM_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/fuzz/mesh.h"

namespace mlir::sgd::fuzz {

struct Type {
  Shape shape;
  std::string element;  // "f32"

  bool operator==(const Type&) const = default;
  bool isFloat() const { return element[0] == 'f' || element[0] == 'b'; }
  bool isUnsigned() const { return element[0] == 'u'; }
  int64_t bits() const;
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t size() const;
  std::string print() const;  // tensor<2x3xf32>
};

struct Value {
  std::string name;  // "%v3"
  Type type;
};

/// The numbers of an argument; see tests/differential/inputs.h.
struct Range {
  std::string text;  // "-2..5", "special", or empty
  static Range numbers(int64_t low, int64_t high) { return {std::to_string(low) + ".." + std::to_string(high)}; }
};

enum class Language { Graph, Stablehlo };

/// A function, or the body of an op's region.
class Program {
 public:
  struct Argument {
    Value value;
    std::string sharding, attributes;
    Range range;
  };

  explicit Program(Choices& choices, Language language = Language::Graph)
      : choices(choices), mesh(Mesh::choose(choices)), language(language) {}

  /// A region of an op of `around`, which is its argument as long as it is built. What it needs from outside are
  /// arguments of its own.
  enum class Region { Function, Body, ManualBody };
  Program(Program& around, Region region)
      : choices(around.choices),
        mesh(around.mesh),
        language(around.language),
        shardingOptions(around.shardingOptions),
        region(region),
        isLarge(around.isLarge),
        depth(around.depth + 1),
        manualAxes(around.manualAxes),
        differentiable(around.differentiable),
        prefix(around.prefix + "r" + std::to_string(around.numRegions++)) {}

  Choices& choices;
  Mesh mesh;
  Language language;
  int64_t micro = 1;         // size of the sequential axis; 1: there is none
  int64_t stages = 0;        // virtual stages of a pipeline; 0: there is none
  bool isPipelined = false;  // there is one, which decides where arguments are
  std::string attention;     // the form of attention over sharded positions; empty: by cost
  ShardingOptions shardingOptions;
  Features features;
  Region region = Region::Function;
  bool isLarge = false;                   // tensors of some ten thousand elements, and sizes of some hundred
  unsigned depth = 0;                     // how many regions it lies in
  std::vector<std::string> declarations;  // beside a function
  std::vector<unsigned> manualAxes;       // of the manual computation that it lies in, if any
  std::string differentiable;             // the only type of floats, where all ops must have derivatives; empty: any

  // Types at random
  // ------------------------------------------------------------------------------------------------------

  /// A size: often a multiple of some of the mesh's axes, sometimes odd, seldom 0.
  int64_t chooseSize();
  /// Of at most a few thousand elements, twenty times as many in large programs.
  Shape chooseShape(int64_t minRank, int64_t maxRank);
  std::string chooseFloat();
  std::string chooseInteger();  // not a boolean; in StableHLO also unsigned
  std::string chooseNumber();
  std::string chooseElement();  // any
  /// One of `elements`, or the type of floats of differentiable programs.
  std::string chooseFloat(std::initializer_list<std::string> elements);

  // Values
  // ---------------------------------------------------------------------------------------------------------------

  /// A new argument, sharded at random.
  Value addArgument(const Type& type, const Range& range = {});
  /// A value of exactly this type: one that there is, or a new argument.
  Value getOperand(const Type& type, const Range& range = {});
  /// A value that satisfies `fits`, or a new argument of a type that `choose` makes.
  Value getAny(const std::function<bool(const Type&)>& fits, const std::function<Type()>& choose,
               const Range& range = {});
  /// Any value of a rank in this range.
  Value getAny(int64_t minRank, int64_t maxRank);
  /// A scalar that is the same on all ranks, for starts and padding.
  Value getScalar(const std::string& element, const Range& range = {}) { return getOperand({{}, element}, range); }
  /// A scalar to decide by: in manual computations often one that differs between ranks.
  Value getDecider(const std::string& element, const Range& range);

  /// Adds `%v = op` and, sometimes, an annotation of the result's sharding.
  Value addOp(const std::string& op, const Type& type);
  /// Adds `%v = op` alone; with several types, an op with as many results.
  Value addLine(const std::string& op, const Type& type) { return addLines(op, {type}).front(); }
  std::vector<Value> addLines(const std::string& op, const std::vector<Type>& types);
  Value addConstraint(const Value& value);
  /// Of a value that right programs may differ in: no other family reads it, and it is no result.
  void hide(const Value& value);
  /// Adds an op with a name like `arith.addf` that is written `name %a, %b : type`.
  Value addElementwise(const std::string& name, const std::vector<Value>& operands, const Type& type,
                       const std::string& typeText);

  /// The whole text of a function; every value that nobody uses is a result.
  std::string print();

  // Of regions
  // -----------------------------------------------------------------------------------------------------------

  const std::vector<Argument>& getArguments() const { return arguments; }
  /// Values that no op here uses, arguments left out.
  std::vector<Value> getUnused() const;
  /// The ops, indented.
  std::string printBody() const;

 private:
  struct Result {
    Value value;
    std::string sharding;
  };

  std::string dialect() const { return language == Language::Graph ? "sgd" : "sdy"; }
  std::string printSharding(const std::string& sharding) const;
  bool isUsed(const Value& value) const;
  std::string chooseResultSharding(const Type& type);
  std::vector<Result> chooseResults();
  std::string chooseSequentialDim(const Type& type);
  std::string chooseMeshAttributes();
  std::string printArguments(const std::vector<Result>& results);

  bool isArgument(const Value& value) const;

  std::string prefix;  // of names: values of a region have others than those around it
  unsigned numRegions = 0;
  std::vector<Argument> arguments;
  std::vector<Value> values;  // arguments and results of ops
  std::vector<std::string> lines;
};

/// `[1, 2, 3]`, and `array<i64: 1, 2, 3>`.
std::string printList(const std::vector<int64_t>& numbers);
std::string printArray(const std::vector<int64_t>& numbers);

}  // namespace mlir::sgd::fuzz

#endif
