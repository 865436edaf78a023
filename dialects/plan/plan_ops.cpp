// Verifiers of plan ops: after them, every instruction reads and writes inside its buffers and names what exists.
#include "dialects/fusion/fusion_dialect.h"
#include "dialects/plan/plan_dialect.h"
#include "dialects/plan/verify_reach.h"

#include "dialects/spmd/spmd_dialect.h"
#include "llvm/ADT/SmallSet.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::plan;
using ::sgd::comm::TargetForm;

#define GET_OP_CLASSES
#include "dialects/plan/plan_ops.cpp.inc"

// Buffers
// ---------------------------------------------------------------------------------------------------------------

LogicalResult AllocOp::verify() {
  if (getSpace(getType()) == Space::Constant)
    return emitOpError("allocates private or window memory; constants are plan.constant");
  if ((getSpace(getType()) == Space::Scratch) != isa_and_nonnull<TiledOp>((*this)->getParentOp()))
    return emitOpError("allocates scratch memory inside plan.tiled, and nothing else there");
  if (getOffset() && (*getOffset() < 0 || *getOffset() % 64 != 0))
    return emitOpError() << "offset " << *getOffset() << " is not a multiple of 64";
  return success();
}

LogicalResult ConstantOp::verify() {
  auto type = cast<ShapedType>(getValue().getType());
  if (type.getShape() != getType().getShape() || type.getElementType() != getType().getElementType())
    return emitOpError("value and buffer differ in type");
  return getSpace(getType()) == Space::Constant
             ? success()
             : emitOpError("has a buffer outside of the constant space; expected it there");
}

LogicalResult ViewOp::verify() {
  MemRefType from = getSource().getType(), to = getType();
  if (from.getMemorySpace() != to.getMemorySpace()) return emitOpError("source and result lie in different spaces");
  int64_t begin = getByteOffset();
  if (begin < 0 || begin + getByteSize(to) > getByteSize(from))
    return emitOpError() << "bytes [" << begin << ", " << begin + getByteSize(to) << ") are not inside a source of "
                         << getByteSize(from) << " bytes";
  return success();
}

// Kernels
// ---------------------------------------------------------------------------------------------------------------

fusion::ClusterOp KernelOp::getCluster() { return cast<fusion::ClusterOp>(getBody().front().front()); }

std::optional<unsigned> KernelOp::getInPlaceOperand(unsigned result) {
  if (!getInPlace() || (*getInPlace())[result] < 0) return std::nullopt;
  return static_cast<unsigned>((*getInPlace())[result]);
}

SmallVector<unsigned> KernelOp::getInputPositions() {
  SmallVector<unsigned> positions;
  for (unsigned operand = 0; operand < getBody().getNumArguments(); ++operand)
    if (!getInPlace() || !llvm::is_contained(*getInPlace(), static_cast<int64_t>(operand)))
      positions.push_back(operand);
  return positions;
}

LogicalResult KernelOp::verify() {
  Block& block = getBody().front();
  auto cluster = block.empty() ? fusion::ClusterOp() : dyn_cast<fusion::ClusterOp>(block.front());
  if (!cluster || !llvm::hasSingleElement(block)) return emitOpError("body must be one fusion.cluster");
  if (!llvm::equal(cluster.getInputs(), block.getArguments()))
    return emitOpError("cluster must take all block arguments in order");
  if (!getInPlace()) return success();
  if (getInPlace()->size() != cluster.getNumResults())
    return emitOpError("in_place does not have one entry per result");
  llvm::SmallSet<int64_t, 4> seen;
  ArrayRef<int64_t> inPlace = *getInPlace();
  for (int64_t operand : inPlace) {
    if (operand < -1 || operand >= static_cast<int64_t>(block.getNumArguments()))
      return emitOpError() << "in_place names the unknown operand " << operand;
    if (operand >= 0 && !seen.insert(operand).second)
      return emitOpError() << "in_place names operand " << operand << " twice";
  }
  return success();
}

LogicalResult LaunchOp::verify() {
  if (getRange() < 0 || getGrain() < 1) return emitOpError("needs a range of at least 0 and a grain of at least 1");
  return success();
}

void LaunchOp::refineAccesses(MutableArrayRef<BufferAccess> accesses, const SymbolTable& kernels) {
  auto kernel = kernels.lookup<KernelOp>(getKernel());
  if (!kernel) return;
  for (auto [index, access] : llvm::enumerate(accesses.take_back(getOutputs().size())))
    access.reads = kernel.getInPlaceOperand(index).has_value();
}

static bool matches(Value buffer, Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  auto memref = cast<MemRefType>(buffer.getType());
  return memref.getShape() == type.getShape() && memref.getElementType() == type.getElementType();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection& symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel) return emitOpError() << "names the unknown kernel " << getKernelAttr();
  SmallVector<unsigned> positions = kernel.getInputPositions();
  fusion::ClusterOp cluster = kernel.getCluster();
  if (positions.size() != getInputs().size())
    return emitOpError() << "passes " << getInputs().size() << " inputs to a kernel of " << positions.size();
  if (cluster.getNumResults() != getOutputs().size())
    return emitOpError() << "passes " << getOutputs().size() << " outputs to a kernel of " << cluster.getNumResults();
  for (auto [buffer, position] : llvm::zip(getInputs(), positions))
    if (!matches(buffer, cluster.getInputs()[position].getType()))
      return emitOpError() << "input " << position << " does not have the kernel's type "
                           << cluster.getInputs()[position].getType();
  for (auto [index, buffer] : llvm::enumerate(getOutputs()))
    if (!matches(buffer, cluster.getResultTypes()[index]))
      return emitOpError() << "output " << index << " does not have the kernel's type "
                           << cluster.getResultTypes()[index];
  return success();
}

// Library calls
// ---------------------------------------------------------------------------------------------------------

/// The list, and the sizes of its operands where c is m by n.
static LogicalResult verifyEpilogue(MatmulOp op, int64_t m, int64_t n) {
  Epilogue epilogue = op.getEpilogue();
  std::string fault = FaultOf(epilogue, {.is_batched = op.getNumBatchDims() != 0,
                                         .has_bias = static_cast<bool>(op.getBias()),
                                         .has_aux = static_cast<bool>(op.getAux()),
                                         .has_reduction = static_cast<bool>(op.getReduction())});
  if (!fault.empty()) return op.emitOpError("has ") << fault;
  auto needs = [&](StringRef name, TypedValue<MemRefType> operand, int64_t elements) -> LogicalResult {
    if (!operand || operand.getType().getNumElements() == elements) return success();
    return op.emitOpError() << "needs " << name << " of " << elements << " elements";
  };
  if (failed(needs("a bias", op.getBias(), n)) ||
      failed(needs("an aux", op.getAux(), op.getC().getType().getNumElements())))
    return failure();
  return needs("a reduction", op.getReduction(), epilogue.Has(EpilogueStep::kLhsReduction) ? m : n);
}

LogicalResult MatmulOp::verify() {
  ArrayRef<int64_t> sizes = getSizes();
  if (sizes.size() < 3 || sizes.size() > 7) return emitOpError("needs sizes of 0 to 4 batch dimensions, m, n and k");
  if (llvm::any_of(sizes, [](int64_t size) { return size < 1; })) return emitOpError("has an empty dimension");
  Type element = getA().getType().getElementType(), result = getC().getType().getElementType();
  if (!mlir::sgd::mayMultiply(element, getB().getType().getElementType(), result))
    return emitOpError("mixes element types");
  for (Value other : {getBias(), getAux(), getReduction()})
    if (other && cast<MemRefType>(other.getType()).getElementType() != result)
      return emitOpError("has a bias, aux or reduction of another type than c");
  if (getTf32() && !element.isF32()) return emitOpError("has tf32 on operands that are not f32");
  SmallVector<int64_t> batch(sizes.drop_back(3));
  int64_t m = sizes[batch.size()], n = sizes[batch.size() + 1], k = sizes[batch.size() + 2];
  auto with = [&](int64_t first, int64_t second) {
    SmallVector<int64_t> all = batch;
    all.append({first, second});
    return all;
  };
  if (failed(verifyReach(*this, "a", getA(), with(m, k), getAStrides())) ||
      failed(verifyReach(*this, "b", getB(), with(k, n), getBStrides())) ||
      failed(verifyReach(*this, "c", getC(), with(m, n), getCStrides())))
    return failure();
  return verifyEpilogue(*this, m, n);
}

using MemoryEffectList = SmallVectorImpl<MemoryEffects::EffectInstance>;

void MatmulOp::getEffects(MemoryEffectList& list) {
  EffectBuilder effects(list);
  for (OpOperand* factor : {&getAMutable(), &getBMutable()}) effects.read(*factor);
  effects.read(getBiasMutable());
  if (getEpilogue().Has(EpilogueStep::kGeluGradient)) effects.read(getAuxMutable());
  // Elements of c are written once each: as many as it has are all.
  bool isWhole = ShapedType::getNumElements(getSizes().drop_back()) == getC().getType().getNumElements();
  if (getEpilogue().Has(EpilogueStep::kResidual)) effects.read(getCMutable());
  effects.write(getCMutable(), isWhole);
  if (getEpilogue().Has(EpilogueStep::kGelu)) effects.write(getAuxMutable(), isWhole);
  effects.write(getReductionMutable());
  effects.write(getWorkspaceMutable());
}

// Communication and copies
// ----------------------------------------------------------------------------------------------

/// The target's shape where it has `form` and comes of `source` over `ranks` ranks; empty optional when a dimension is
/// out of range or does not divide.
static std::optional<SmallVector<int64_t>> getTargetShape(TargetForm form, ArrayRef<int64_t> source,
                                                          ArrayRef<int64_t> dims, int64_t index, int64_t ranks) {
  SmallVector<int64_t> shape(source);
  auto scale = [&](int64_t dim, int64_t multiply, int64_t divide) {
    if (dim < 0 || dim >= static_cast<int64_t>(shape.size()) || shape[dim] * multiply % divide != 0) return false;
    shape[dim] = shape[dim] * multiply / divide;
    return true;
  };
  bool valid = true;
  if (form == TargetForm::kGathered) valid = scale(dims[index], ranks, 1);
  if (form == TargetForm::kScattered) valid = scale(dims[index], 1, ranks);
  if (form == TargetForm::kExchanged) valid = scale(dims[0], 1, ranks) && scale(dims[1], ranks, 1);
  return valid ? std::optional(shape) : std::nullopt;
}

LogicalResult CollectiveOp::verify() {
  if (getSources().empty() || getSources().size() != getTargets().size())
    return emitOpError("needs one target per source");
  if (getToken() && !getToken().hasOneUse()) return emitOpError("with a token is done exactly once");
  const ::sgd::comm::CollectiveTraits& traits = ::sgd::comm::TraitsOf(getKind());
  TargetForm form = traits.target;
  if (traits.reduces != getReduce().has_value())
    return emitOpError("names how values are combined exactly when it combines them");
  if ((getKind() == CollectiveKind::kPermute) != getFrom().has_value())
    return emitOpError("has 'from' exactly when it is a permute");
  bool gathersRanges = form == TargetForm::kRange;
  if (gathersRanges != getRanges().has_value() || gathersRanges != getTo().has_value() ||
      (gathersRanges && getRanges()->size() != getSources().size()))
    return emitOpError("has a range per source and axes of results exactly when it gathers ranges");
  bool cutsOrJoins = form == TargetForm::kGathered || form == TargetForm::kScattered;
  size_t needed = cutsOrJoins ? getSources().size() : form == TargetForm::kExchanged ? 2 : 0;
  if (getDims().size() != needed) return emitOpError() << "needs " << needed << " dims";
  std::optional<int64_t> ranks = spmd::getGroupSize(*this, getAxes());
  if (!ranks) return emitOpError() << "names an unknown mesh or axis in " << getAxes();
  if (getStaging() && getSpace(cast<MemRefType>(getStaging().getType())) != Space::Window)
    return emitOpError("staging must lie in window space");
  for (auto [index, source, target] : llvm::enumerate(getSources(), getTargets())) {
    auto from = cast<MemRefType>(source.getType()), to = cast<MemRefType>(target.getType());
    if (getSpace(from) != Space::Window || getSpace(to) != Space::Window)
      return emitOpError() << "source and target " << index << " must lie in window space";
    if (gathersRanges) {
      auto range = cast<mlir::sgd::RangeAttr>((*getRanges())[index]);
      if (failed(spmd::verifyRange(*this, range, from.getShape(), to.getShape(), *ranks))) return failure();
      continue;
    }
    std::optional<SmallVector<int64_t>> shape = getTargetShape(form, from.getShape(), getDims(), index, *ranks);
    if (!shape) return emitOpError() << "source " << index << " does not divide over " << *ranks << " ranks";
    if (to.getShape() != ArrayRef<int64_t>(*shape) || to.getElementType() != from.getElementType())
      return emitOpError() << "target " << index << " should have shape [" << *shape << "]";
  }
  return success();
}

LogicalResult DoneOp::verify() {
  CollectiveOp collective = getCollective();
  if (!collective || collective->getBlock() != (*this)->getBlock())
    return emitOpError("ends a collective of its own block");
  return success();
}

LogicalResult SendOp::verify() {
  if (getStage() >= 0 && getChannel() >= 0 && getDepth() >= 1 && getDepth() <= spmd::kMaxChannelDepth) return success();
  return emitOpError() << "names stage " << getStage() << ", channel " << getChannel() << " and depth " << getDepth()
                       << "; expected numbers from 0, and a depth of 1 to " << spmd::kMaxChannelDepth;
}

LogicalResult ReceiveOp::verify() {
  if (getSpace(getTarget().getType()) == Space::Constant) return emitOpError("writes to constants");
  if (getMailbox() && (*getMailbox() < 0 || *getMailbox() % 128 != 0))
    return emitOpError() << "mailbox " << *getMailbox() << " is not a multiple of 128";
  if (getStage() >= 0 && getChannel() >= 0) return success();
  return emitOpError() << "names stage " << getStage() << " and channel " << getChannel()
                       << "; expected numbers from 0";
}

LogicalResult CopyOp::verify() {
  if (getByteSize(getSource().getType()) != getByteSize(getTarget().getType()))
    return emitOpError("source and target differ in size");
  return success();
}

LogicalResult FillOp::verify() {
  if (getValue().getType() != getTarget().getType().getElementType())
    return emitOpError("value does not have the target's element type");
  return success();
}
