// A view is a chain of ops that move elements; a write goes through the chain in reverse.
#include "frontends/torch/memory.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

// Which ops share memory
// -----------------------------------------------------------------------------------------------------------------

static constexpr StringRef kViews[] = {"adjoint",
                                       "alias",
                                       "as_strided",
                                       "as_strided_",
                                       "atleast_1d",
                                       "atleast_2d",
                                       "atleast_3d",
                                       "broadcast_tensors",
                                       "broadcast_to",
                                       "chunk",
                                       "detach",
                                       "diagonal",
                                       "dsplit",
                                       "expand",
                                       "expand_as",
                                       "hsplit",
                                       "linalg_diagonal",
                                       "mH",
                                       "mT",
                                       "matrix_H",
                                       "meshgrid",
                                       "moveaxis",
                                       "movedim",
                                       "narrow",
                                       "numpy_T",
                                       "permute",
                                       "select",
                                       "slice",
                                       "split",
                                       "split_with_sizes",
                                       "squeeze",
                                       "squeeze_",
                                       "swapaxes",
                                       "swapaxes_",
                                       "swapdims",
                                       "swapdims_",
                                       "t",
                                       "t_",
                                       "tensor_split",
                                       "transpose",
                                       "transpose_",
                                       "unbind",
                                       "unflatten",
                                       "unfold",
                                       "unsafe_chunk",
                                       "unsafe_split",
                                       "unsqueeze",
                                       "unsqueeze_",
                                       "view",
                                       "view_as",
                                       "vsplit",
                                       "unsafe_split_with_sizes"};
/// Views where the operand is contiguous, and at times elsewhere.
static constexpr StringRef kReshapes[] = {"flatten", "ravel", "reshape", "reshape_as", "_reshape_alias"};
/// The operand itself where nothing is to change.
static constexpr StringRef kConversions[] = {
    "contiguous",    "to",          "type_as",       "lift_fresh",   "lift",        "dropout", "feature_dropout",
    "alpha_dropout", "expand_copy", "requires_grad", "resolve_conj", "resolve_neg", "conj",    "positive",
    "real"};

static StringRef getViewed(const Node& node) {
  for (StringRef name : {"self", "input", "A"})
    if (const Argument* argument = node.find(name))
      if (const auto* tensor = std::get_if<TensorName>(argument)) return tensor->name;
  return "";
}

static bool isTrue(const Node& node, StringRef name) {
  const Argument* argument = node.find(name);
  const auto* flag = argument ? std::get_if<bool>(argument) : nullptr;
  return flag && *flag;
}

static Sharing getConversionSharing(StringRef op, const Node& node, const TensorInfo& from, const TensorInfo& to) {
  if (op == "contiguous") {
    if (node.find("memory_format")) return Sharing::Unknown;
    return from.isRowMajor() ? Sharing::Same : Sharing::Own;
  }
  if (op.ends_with("dropout")) return isTrue(node, "train") ? Sharing::Own : Sharing::Same;
  if (isTrue(node, "copy") || from.type != to.type) return Sharing::Own;
  return node.find("memory_format") ? Sharing::Unknown : Sharing::Same;
}

/// "add" of "aten.add.Tensor".
static StringRef getName(const Node& node) { return StringRef(node.target).split('.').second.split('.').first; }

std::pair<Sharing, StringRef> mlir::sgd::torch::getSharing(const Node& node, const ExportedProgram& program) {
  StringRef op = getName(node), viewed = getViewed(node);
  auto from = program.tensors.find(viewed.str());
  if (from == program.tensors.end() || node.outputs.empty()) return {Sharing::Own, ""};
  if (llvm::is_contained(kViews, op)) return {Sharing::View, viewed};
  if (llvm::is_contained(kReshapes, op)) return {from->second.isRowMajor() ? Sharing::View : Sharing::Unknown, viewed};
  auto to = program.tensors.find(node.outputs.front());
  if (!llvm::is_contained(kConversions, op) || to == program.tensors.end()) return {Sharing::Own, ""};
  return {getConversionSharing(op, node, from->second, to->second), viewed};
}

/// No memory has been written to as often.
static constexpr unsigned kOutdated = ~0U;

// Writes
// -----------------------------------------------------------------------------------------------------------------

/// Returns `whole` with the elements that `slice` reads replaced by `value`.
static Value putSlice(TensorMath& math, SliceOp slice, Value value) {
  Value whole = slice.getInput();
  RankedTensorType type = tensorType(whole);
  if (tensorType(value).getNumElements() == 0) return whole;
  SmallVector<int64_t> high, interior;
  for (auto [dim, size] : llvm::enumerate(shapeOf(value))) {
    int64_t stride = slice.getStrides()[dim], last = slice.getStarts()[dim] + (size - 1) * stride;
    high.push_back(type.getDimSize(dim) - 1 - last);
    interior.push_back(stride - 1);
  }
  auto spread = [&](Value elements) -> Value {
    RankedTensorType own = tensorType(elements);
    Value fill = math.splat(RankedTensorType::get({}, own.getElementType()), int64_t{0});
    if (isa<FloatType>(own.getElementType())) fill = math.splat(RankedTensorType::get({}, own.getElementType()), 0.0);
    return math.create<PadOp>(type.clone(own.getElementType()), elements, fill, slice.getStarts(), high, interior);
  };
  Value isWritten = spread(math.splat(tensorType(value).clone(math.getBuilder().getI1Type()), int64_t{1}));
  return math.select(isWritten, spread(value), whole);
}

Value mlir::sgd::torch::writeThrough(TensorMath& math, Value base, Value view, Value value) {
  while (view != base) {
    Operation* op = view.getDefiningOp();
    if (auto reshape = dyn_cast_or_null<ReshapeOp>(op)) {
      value = math.reshape(value, shapeOf(reshape.getInput()));
    } else if (auto transpose = dyn_cast_or_null<TransposeOp>(op)) {
      value = math.transpose(value, invertPermutationVector(transpose.getPermutation()));
    } else if (auto slice = dyn_cast_or_null<SliceOp>(op)) {
      value = putSlice(math, slice, value);
    } else {
      auto broadcast = dyn_cast_or_null<BroadcastInDimOp>(op);
      if (!broadcast || tensorType(broadcast.getInput()).getNumElements() != tensorType(view).getNumElements())
        return {};
      value = math.reshape(value, shapeOf(broadcast.getInput()));
    }
    view = op->getOperand(0);
  }
  return value;
}

bool mlir::sgd::torch::changesDims(StringRef target) {
  StringRef name = target.split('.').second.split('.').first;
  return name.ends_with("_") && llvm::is_contained(kViews, name);
}

void Memory::note(const Node& node) {
  // Views of several tensors: which one's memory a result has is not told apart.
  if (const Argument* viewed = node.find("tensors"); viewed && llvm::is_contained(kViews, getName(node)))
    if (const auto* names = std::get_if<std::vector<TensorName>>(viewed)) {
      for (const TensorName& one : *names) unknown.insert(getRoot(one.name));
      for (const std::string& output : node.outputs) unknown.insert(output);
    }
  auto [sharing, viewed] = getSharing(node, program);
  if (sharing == Sharing::Own) return;
  for (const std::string& output : node.outputs) {
    if (output.empty()) continue;
    if (sharing == Sharing::Unknown) {
      unknown.insert(getRoot(viewed));
      unknown.insert(output);
    } else {
      add(output, viewed, sharing == Sharing::Same ? nullptr : &node);
    }
  }
}

void Memory::noteSame(StringRef name, StringRef base) {
  add(name, base, nullptr);
  if (auto view = views.find(name); view != views.end()) view->second.version = kOutdated;
}

void Memory::add(StringRef name, StringRef base, const Node* node) {
  // Names of one tensor refer to its first one, so that chains are as long as views of views.
  auto found = views.find(base);
  if (found != views.end() && !found->second.node) base = found->second.base;
  if (name != base) views[name] = {base.str(), node, versions.lookup(getRoot(base))};
}

StringRef Memory::getRoot(StringRef name) const {
  for (auto view = views.find(name); view != views.end(); view = views.find(name)) name = view->second.base;
  return name;
}

LogicalResult Memory::refresh(StringRef name, Recompute recompute) {
  unsigned version = versions.lookup(getRoot(name));
  SmallVector<StringRef> outdated;
  for (auto view = views.find(name); view != views.end() && view->second.version != version;
       view = views.find(view->second.base))
    outdated.push_back(view->first());
  for (StringRef one : llvm::reverse(outdated)) {
    View& view = views[one];
    view.version = version;
    if (!view.node) {
      values[one] = values.lookup(view.base);
      continue;
    }
    // The op may know its operand by another name.
    values[getViewed(*view.node)] = values.lookup(view.base);
    if (failed(recompute(*view.node))) return failure();
  }
  return success();
}

LogicalResult Memory::write(TensorMath& math, StringRef name, Value value) {
  for (auto view = views.find(name); view != views.end(); view = views.find(name)) {
    const std::string& base = view->second.base;
    if (view->second.node) value = writeThrough(math, values.lookup(base), values.lookup(name), value);
    if (!value) return failure();
    name = base;
  }
  // Views are made anew of it, so that they are chains of ops again.
  values[name] = value;
  ++versions[name];
  return success();
}
