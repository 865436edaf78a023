// Results are named as the arguments of the train step that they are the first values of.
#include "passes/graph/training/init_program.h"

#include "dialects/sgd/input_attrs.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_names.h"
#include "llvm/ADT/StringSet.h"
#include "passes/graph/functions/random_bits.h"
#include "passes/graph/training/initializers.h"
#include "passes/graph/training/stacked_arguments.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class InitWriter {
 public:
  InitWriter(func::FuncOp init, func::FuncOp train)
      : init(init),
        train(train),
        block(init.getBody().front()),
        builder(block.getTerminator()),
        math(builder, init.getLoc()) {}

  LogicalResult write() {
    SmallVector<Initial> initials;
    // Those of the model first, however programs store them: what is drawn depends on the order.
    for (unsigned argument = 0; argument < init.getNumArguments(); ++argument)
      if (failed(addInitial(init, argument, initials))) return failure();
    llvm::StringSet<> known;
    for (unsigned argument = 0; argument < init.getNumArguments(); ++argument)
      known.insert(getInputName(init, argument));
    for (unsigned argument = 0; argument < train.getNumArguments(); ++argument)
      if (!known.contains(getInputName(train, argument)) && failed(addInitial(train, argument, initials)))
        return failure();
    clear();
    drawKeys(llvm::count_if(initials, [](const Initial& one) { return one.isDrawn(); }));
    for (const Initial& initial : initials) writeValue(initial);
    block.getTerminator()->setOperands(values);
    init.setType(builder.getFunctionType(init.getArgumentTypes(), ValueRange(values).getTypes()));
    init.setResAttrsAttr(builder.getArrayAttr(attributes));
    return success();
  }

 private:
  void clear() {
    block.getTerminator()->setOperands({});
    for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (&op != block.getTerminator()) op.erase();
    (void)init.eraseArguments(llvm::BitVector(init.getNumArguments(), true));
  }

  struct Initial {
    RankedTensorType type;
    SmallVector<NamedAttribute> attributes;  // of the result
    Initializer initializer;
    bool isDrawn() const { return initializer.kind != Initializer::Kind::Constant; }
  };

  LogicalResult addInitial(func::FuncOp function, unsigned argument, SmallVector<Initial>& initials) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[argument]);
    auto text = function.getArgAttrOfType<StringAttr>(argument, kInitAttr);
    if (!text && getRole(function, argument) != Role::OptimizerState) return success();
    Initial initial{type, {}, {}};
    std::string name = getInputName(function, argument);
    if (text) {
      llvm::Expected<Initializer> parsed = parseInitializer(text.getValue(), type);
      if (!parsed)
        return emitError(function.getArgument(argument).getLoc())
               << "argument '" << name << "': " << llvm::toString(parsed.takeError());
      initial.initializer = *parsed;
    }
    initial.attributes.push_back(builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)));
    addParts(function, argument, initial.attributes);
    initials.push_back(std::move(initial));
    return success();
  }

  /// A key for each tensor that is drawn, from the state of a generator that starts from the seed.
  void drawKeys(int64_t count) {
    if (count == 0) return;
    auto type = RankedTensorType::get({count}, builder.getI64Type());
    keys = writeRandomBits(math, addGenerator(init), type, BitGeneratorKind::ThreeFry).bits;
  }

  void writeValue(const Initial& initial) {
    auto draw = [&](RankedTensorType words) {
      Value key = math.reshape(math.slice(keys, drawn, drawn + 1), {});
      ++drawn;
      return writeHashedWords(math, key, words);
    };
    values.push_back(writeInitial(math, initial.initializer, initial.type, draw));
    attributes.push_back(builder.getDictionaryAttr(initial.attributes));
  }

  func::FuncOp init, train;
  Block& block;
  OpBuilder builder;
  TensorMath math;
  Value keys;         // i64, one for each tensor that is drawn
  int64_t drawn = 0;  // tensors
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
};

}  // namespace

LogicalResult mlir::sgd::writeInit(func::FuncOp init, func::FuncOp train) { return InitWriter(init, train).write(); }
