// Complex numbers made of two tensors of reals, ops on them, and their parts as results; Fourier transforms.
#include "tests/fuzz/families.h"
#include "tests/fuzz/stablehlo_text.h"

using namespace mlir::sgd::fuzz;

namespace {

/// Lines on complex values, which other families never see: `parts` are the real values around them.
class Chain {
 public:
  Chain(Program& program, const Type& type) : program(program), choices(program.choices), type(type) {
    Value re = program.getOperand(type), im = program.getOperand(type);
    first = program.addLine("stablehlo.negate " + re.name + " : " + type.print(), type);
    value = add("stablehlo.complex " + first.name + ", " + im.name + " : " + print());
  }

  void addOp() {
    switch (choices.below(8)) {
      case 0:
        return set("stablehlo." + choices.pick(kFunctions) + " " + value + " : " + print());
      case 1:
        return set("chlo." + choices.pick(kChloFunctions) + " " + value + " : " + print() + " -> " + print());
      case 2:
        return set("stablehlo." + choices.pick(kBinary) + " " + value + ", " + makeOther() + " : " + print());
      case 3:
        return addTranspose();
      case 4:
        return addReduce();
      case 5:
        return addCumulative();
      case 6:
        return addSelect();
      default:
        return addDot();
    }
  }

  /// The parts, or the magnitude.
  void finish() {
    std::string from = "(" + print() + ") -> " + type.print();
    program.addLine("stablehlo.negate " + first.name + " : " + first.type.print() + lines, first.type);
    if (choices.chance(30)) {
      program.addOp("stablehlo.abs " + value + " : " + from, type);
      return;
    }
    program.addOp("stablehlo.real " + value + " : " + from, type);
    program.addOp("stablehlo.imag " + value + " : " + from, type);
  }

  void transform() {
    int64_t rank = type.rank();
    std::vector<int64_t> lengths;
    for (int64_t dim = rank - 1 - static_cast<int64_t>(choices.below(rank)); dim < rank; ++dim)
      lengths.push_back(type.shape[dim]);
    set("stablehlo.fft " + value + ", type = " + choices.pick({"FFT", "IFFT"}) + ", length = " + printList(lengths) +
        " : (" + print() + ") -> " + print());
    if (!choices.chance(30)) return;
    // As real tensors and back.
    Type half = type;
    half.shape.back() = half.shape.back() / 2 + 1;
    std::string real = add("stablehlo.real " + value + " : (" + print() + ") -> " + type.print());
    std::string spectrum = add("stablehlo.fft " + real + ", type = RFFT, length = " + printList(lengths) + " : (" +
                               type.print() + ") -> " + print(half));
    std::string back = add("stablehlo.fft " + spectrum + ", type = IRFFT, length = " + printList(lengths) + " : (" +
                           print(half) + ") -> " + type.print());
    set("stablehlo.complex " + back + ", " + real + " : " + print());
  }

 private:
  static const std::vector<std::string> kFunctions, kChloFunctions, kBinary;

  static std::string print(const Type& parts) { return Type{parts.shape, "complex<" + parts.element + ">"}.print(); }
  std::string print() const { return print(type); }
  std::string printScalar() const { return print(Type{{}, type.element}); }

  std::string add(const std::string& op) {
    std::string name = first.name + "c" + std::to_string(count++);
    lines += "\n  " + name + " = " + op;
    return name;
  }
  void set(const std::string& op) { value = add(op); }
  std::string makeOther() {
    std::string turned = add("stablehlo.negate " + value + " : " + print());
    if (choices.chance(50)) return turned;
    return add("chlo.conj " + turned + " : " + print() + " -> " + print());
  }
  std::string makeConstant(const std::string& number) {
    return add("stablehlo.constant dense<" + number + "> : " + printScalar());
  }
  std::string printSum(const std::string& op) {
    return "({\n  ^bb0(%p: " + printScalar() + ", %q: " + printScalar() + "):\n    %s = stablehlo." + op +
           " %p, %q : " + printScalar() + "\n    stablehlo.return %s : " + printScalar() + "\n  })";
  }

  void addTranspose() {
    std::vector<int64_t> permutation = choices.permutation(type.rank());
    std::string from = print();
    Type to = type;
    for (int64_t dim = 0; dim < type.rank(); ++dim) to.shape[dim] = type.shape[permutation[dim]];
    type = to;
    set("stablehlo.transpose " + value + ", dims = " + printList(permutation) + " : (" + from + ") -> " + print());
  }

  void addReduce() {
    if (type.rank() < 2) return;
    auto dim = static_cast<int64_t>(choices.below(type.rank()));
    bool multiplies = choices.chance(30);
    std::string init = makeConstant(multiplies ? "(1.0, 0.0)" : "(0.0, 0.0)"), from = print();
    type.shape.erase(type.shape.begin() + dim);
    set("\"stablehlo.reduce\"(" + value + ", " + init + ") <{dimensions = " + printArray({dim}) + "}> " +
        printSum(multiplies ? "multiply" : "add") + " : (" + from + ", " + printScalar() + ") -> " + print());
  }

  void addCumulative() {
    if (type.rank() < 1 || type.size() == 0) return;
    auto dim = static_cast<int64_t>(choices.below(type.rank()));
    std::vector<int64_t> window(type.rank(), 1), ones(type.rank(), 1);
    window[dim] = type.shape[dim];
    std::string padding;
    for (int64_t i = 0; i < type.rank(); ++i)
      padding += (i ? ", [" : "[") + std::to_string(i == dim ? type.shape[dim] - 1 : 0) + ", 0]";
    std::string init = makeConstant("(0.0, 0.0)"), array = printArray(ones);
    set("\"stablehlo.reduce_window\"(" + value + ", " + init + ") <{base_dilations = " + array + ", padding = dense<[" +
        padding + "]> : tensor<" + std::to_string(type.rank()) + "x2xi64>, window_dilations = " + array +
        ", window_dimensions = " + printArray(window) + ", window_strides = " + array + "}> " + printSum("add") +
        " : (" + print() + ", " + printScalar() + ") -> " + print());
  }

  void addSelect() {
    std::string other = makeOther();
    std::string mask = Type{type.shape, "i1"}.print();
    std::string test = add("stablehlo.compare " + std::string(choices.pick({"EQ", "NE"})) + ", " + value + ", " +
                           other + ", FLOAT : (" + print() + ", " + print() + ") -> " + mask);
    set("stablehlo.select " + test + ", " + value + ", " + other + " : " + mask + ", " + print());
  }

  /// With its own conjugate.
  void addDot() {
    if (type.rank() != 2 || type.shape[0] * type.shape[0] > 4000) return;
    std::string other = makeOther(), from = print();
    type.shape[1] = type.shape[0];
    set("stablehlo.dot_general " + value + ", " + other + ", contracting_dims = [1] x [1] : (" + from + ", " + from +
        ") -> " + print());
  }

  Program& program;
  Choices& choices;
  Type type;
  Value first;
  std::string value, lines;
  unsigned count = 0;
};

const std::vector<std::string> Chain::kFunctions = {
    "exponential",          "log", "sqrt", "rsqrt", "tanh", "sine", "cosine", "sign", "negate", "log_plus_one",
    "exponential_minus_one"};
const std::vector<std::string> Chain::kChloFunctions = {"sinh",  "cosh",  "asin",  "acos",   "atan",
                                                        "asinh", "acosh", "atanh", "square", "conj"};
const std::vector<std::string> Chain::kBinary = {"add", "subtract", "multiply", "divide"};

Type chooseType(Program& program, int64_t minRank) {
  return {program.chooseShape(minRank, 3), program.choices.pick({"f32", "f32", "f64"})};
}

}  // namespace

void mlir::sgd::fuzz::addComplex(Program& program) {
  Chain chain(program, chooseType(program, 0));
  for (uint64_t ops = 1 + program.choices.below(4); ops > 0; --ops) chain.addOp();
  chain.finish();
}

void mlir::sgd::fuzz::addFft(Program& program) {
  Chain chain(program, chooseType(program, 1));
  chain.transform();
  chain.finish();
}
