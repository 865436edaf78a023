// Offsets of arguments and allocs in private, window and host memory, for all functions of a module together.
#include <map>

#include "dialects/sgd/stages.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/plan/channels/plan_channels.h"
#include "passes/plan/memory/lifetimes.h"
#include "passes/plan/memory/passes.h"
#include "passes/plan/memory/spaces.h"
#include "runtime/comm/collectives/channel.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_ASSIGNOFFSETSPASS
#include "passes/plan/memory/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;
using memory::ArenaBuffer;
using plan::Space;

namespace {

/// Arguments of one name, in whichever functions have it: one place in memory.
struct SharedArgument {
  SmallVector<BlockArgument, 2> arguments;
  Space space = Space::Private;
  uint64_t offset = 0;

  uint64_t getBytes() const { return getByteSize(cast<MemRefType>(arguments.front().getType())); }
};

func::FuncOp getFunction(BlockArgument argument) { return cast<func::FuncOp>(argument.getOwner()->getParentOp()); }

struct AssignOffsetsPass : mlir::sgd::impl::AssignOffsetsPassBase<AssignOffsetsPass> {
  void runOnOperation() final {
    byStage.clear();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      if (failed(checkIsPlan(function))) return signalPassFailure();
      if (!function.isPrivate()) byStage[getStage(function).value_or(-1)].push_back(function);
    }
    kernels.emplace(getOperation());
    unifyPassedSpaces(getOperation());
    FailureOr<std::vector<PlanChannel>> channels = getPlanChannels(getOperation());
    if (failed(channels)) return signalPassFailure();
    Builder builder(&getContext());
    uint64_t windowBytes = 0, privateBytes = 0, hostBytes = 0;
    SmallVector<Attribute> stageBytes;
    for (auto& [stage, own] : byStage) {
      functions = std::move(own);
      FailureOr<Bytes> bytes = planStage();
      if (failed(bytes)) return signalPassFailure();
      bytes->window = placeMailboxes(stage, *channels, bytes->window);
      privateBytes = std::max(privateBytes, bytes->inPrivate);
      windowBytes = std::max(windowBytes, bytes->window);
      hostBytes = std::max(hostBytes, bytes->host);
      SmallVector<int64_t, 3> sizes = {static_cast<int64_t>(bytes->inPrivate), static_cast<int64_t>(bytes->window)};
      if (bytes->host != 0) sizes.push_back(static_cast<int64_t>(bytes->host));
      stageBytes.push_back(builder.getDenseI64ArrayAttr(sizes));
    }
    getOperation()->setAttr(kPrivateBytesAttr, builder.getI64IntegerAttr(privateBytes));
    getOperation()->setAttr(kWindowBytesAttr, builder.getI64IntegerAttr(windowBytes));
    if (hostBytes != 0) getOperation()->setAttr(kHostBytesAttr, builder.getI64IntegerAttr(hostBytes));
    if (!byStage.empty() && byStage.begin()->first >= 0)
      getOperation()->setAttr(kStageBytesAttr, builder.getArrayAttr(stageBytes));
  }

  /// Of the spaces of one stage, or of all ranks.
  struct Bytes {
    uint64_t inPrivate = 0, window = 0, host = 0;
  };

  /// Plans the memory that `functions` have on one rank.
  FailureOr<Bytes> planStage() {
    shared.clear();
    usesOf.clear();
    for (func::FuncOp function : functions) planCallees(function);
    if (failed(collectArguments())) return failure();
    placeArguments();
    Bytes bytes;
    for (func::FuncOp function : functions)
      bytes.window = std::max(bytes.window, planFunction(function, Space::Window));
    for (func::FuncOp function : functions) fillWindow(function, bytes.window);
    for (func::FuncOp function : functions)
      bytes.inPrivate = std::max(bytes.inPrivate, planFunction(function, Space::Private));
    for (func::FuncOp function : functions) bytes.host = std::max(bytes.host, planFunction(function, Space::Host));
    return bytes;
  }

  /// Behind `begin` bytes of window, which programs use; returns the end. Mailboxes share memory with nothing: peers
  /// may be in the next step, or in another program.
  static uint64_t placeMailboxes(int64_t stage, std::vector<PlanChannel>& channels, uint64_t begin) {
    for (PlanChannel& channel : channels) {
      if (channel.toStage != stage) continue;
      begin = llvm::alignTo(begin, ::sgd::comm::kMailboxAlignment);
      for (plan::ReceiveOp receive : channel.receives) receive.setMailbox(static_cast<int64_t>(begin));
      begin += channel.getMailboxBytes();
    }
    return begin;
  }

  /// Arguments of one name and tensor share an offset. State must agree in all programs; batches may differ in size and
  /// are then apart.
  LogicalResult collectArguments() {
    std::multimap<std::string, size_t> byName;
    for (func::FuncOp function : functions)
      for (BlockArgument argument : function.getArguments()) {
        auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
        SharedArgument* slot = nullptr;
        auto [first, last] = name ? byName.equal_range(name.str()) : std::pair(byName.end(), byName.end());
        for (const auto& [_, index] : llvm::make_range(first, last)) {
          BlockArgument other = shared[index].arguments.front();
          if (getFunction(shared[index].arguments.back()) == function) continue;
          if (isSameTensor(other, argument))
            slot = &shared[index];
          else if (isState(other) || isState(argument))
            return emitMismatch(other, argument, name);
        }
        if (!slot) {
          if (name) byName.emplace(name.str(), shared.size());
          slot = &shared.emplace_back();
        }
        slot->arguments.push_back(argument);
        // Peers, and the host, want it where they are.
        if (Space space = plan::getSpace(argument.getType()); space != Space::Private) slot->space = space;
      }
    return success();
  }

  static bool isSameTensor(BlockArgument first, BlockArgument second) {
    auto describe = [](BlockArgument argument) {
      return getFunction(argument).getArgAttr(argument.getArgNumber(), plan::kTensorAttr);
    };
    auto a = cast<MemRefType>(first.getType()), b = cast<MemRefType>(second.getType());
    return a.getShape() == b.getShape() && a.getElementType() == b.getElementType() &&
           describe(first) == describe(second);
  }

  /// True when a result of its program is the argument of the next step.
  static bool isState(BlockArgument argument) {
    func::FuncOp function = getFunction(argument);
    for (unsigned result = 0; result < function.getNumResults(); ++result)
      if (getCarriedArgument(function, result) == argument.getArgNumber()) return true;
    return false;
  }

  static LogicalResult emitMismatch(BlockArgument first, BlockArgument second, StringAttr name) {
    return emitError(second.getLoc()) << "argument " << name << " of program '" << getFunction(second).getName()
                                      << "' has not the shape, type and sharding that program '"
                                      << getFunction(first).getName() << "' gives it; rename it or make them equal";
  }

  /// One after another from the start of their space.
  void placeArguments() {
    std::map<Space, uint64_t> next;
    Builder builder(&getContext());
    llvm::DenseMap<Operation*, SmallVector<DictionaryAttr>> attributes;  // of functions: those of the arguments
    for (func::FuncOp function : functions) {
      SmallVector<DictionaryAttr>& list = attributes[function];
      function.getAllArgAttrs(list);
      list.resize(function.getNumArguments());
    }
    for (SharedArgument& slot : shared) {
      slot.offset = next[slot.space];
      next[slot.space] += llvm::alignTo(slot.getBytes(), memory::kAlignment);
      for (BlockArgument argument : slot.arguments) {
        setSpace(argument, slot.space);
        DictionaryAttr& own = attributes[getFunction(argument)][argument.getArgNumber()];
        NamedAttrList list(own);
        list.set(plan::kOffsetAttr, builder.getI64IntegerAttr(slot.offset));
        own = list.getDictionary(&getContext());
      }
    }
    for (func::FuncOp function : functions) {
      function.setAllArgAttrs(attributes[function]);
      updateFunctionType(function);
    }
  }

  /// The buffers of `function` in one space: all arguments there, also those of other programs, then its own allocs.
  struct SpaceBuffers {
    std::vector<ArenaBuffer> buffers;
    SmallVector<plan::AllocOp> allocs;

    size_t getNumArguments() const { return buffers.size() - allocs.size(); }
  };

  SpaceBuffers getBuffers(func::FuncOp function, Space space) {
    const BufferUses& uses = usesOf.try_emplace(function.getOperation(), function, *kernels).first->second;
    SpaceBuffers result;
    for (const SharedArgument& slot : shared) {
      // Operands of a loop or branch are in the buffers of its caller.
      if (slot.space != space || function.isPrivate()) continue;
      auto own =
          llvm::find_if(slot.arguments, [&](BlockArgument argument) { return getFunction(argument) == function; });
      // The arguments of other programs keep their values while this one runs.
      std::vector<memory::Lifetime> always = {{-1, uses.getEnd()}};
      result.buffers.push_back(
          {slot.getBytes(), own == slot.arguments.end() ? always : uses.getLifetimes(*own), slot.offset});
    }
    for (auto alloc : function.getOps<plan::AllocOp>()) {
      if (plan::getSpace(alloc.getType()) != space) continue;
      result.allocs.push_back(alloc);
      std::optional<uint64_t> offset = alloc.getOffset();
      result.buffers.push_back({static_cast<uint64_t>(getByteSize(alloc.getType())), uses.getLifetimes(alloc), offset});
    }
    return result;
  }

  /// Places what the functions that `function` runs allocate, from the start of a scratch that `function` then
  /// allocates for them. A condition and its body, and branches, run one after another: they share it.
  void planCallees(func::FuncOp function) {
    for (Operation& op : llvm::make_early_inc_range(function.front())) {
      uint64_t windowBytes = 0, privateBytes = 0;
      for (func::FuncOp callee : plan::getCallees(&op)) {
        planCallees(callee);
        uint64_t window = planFunction(callee, Space::Window);
        fillWindow(callee, window);
        windowBytes = std::max(windowBytes, window);
        privateBytes = std::max(privateBytes, planFunction(callee, Space::Private));
      }
      for (auto [space, bytes] : {std::pair(Space::Private, privateBytes), std::pair(Space::Window, windowBytes)})
        if (bytes != 0) plan::getScratch(&op, space).assign(createScratch(&op, bytes, space));
    }
  }

  Value createScratch(Operation* call, uint64_t bytes, Space space) {
    OpBuilder builder(call);
    auto type = MemRefType::get({static_cast<int64_t>(bytes)}, builder.getI8Type(), MemRefLayoutAttrInterface(),
                                plan::SpaceAttr::get(&getContext(), space));
    return plan::AllocOp::create(builder, call->getLoc(), type, IntegerAttr());
  }

  /// Places the allocs of `function` in `space` that have no place yet around all arguments; returns the bytes of the
  /// space.
  uint64_t planFunction(func::FuncOp function, Space space) {
    SpaceBuffers own = getBuffers(function, space);
    memory::ArenaPlan plan = memory::planArena(own.buffers);
    for (auto [index, alloc] : llvm::enumerate(own.allocs))
      alloc.setOffset(plan.offsets[own.getNumArguments() + index]);
    return plan.size;
  }

  /// Collectives leave most of the window idle most of the time. Private values move there while that lowers the peak
  /// of private memory.
  void fillWindow(func::FuncOp function, uint64_t windowBytes) {
    SpaceBuffers host = getBuffers(function, Space::Window), guests = getBuffers(function, Space::Private);
    auto moved = memory::moveIntoGaps(guests.buffers, host.buffers, windowBytes);
    for (auto [index, alloc] : llvm::enumerate(guests.allocs)) {
      std::optional<uint64_t> offset = moved[guests.getNumArguments() + index];
      if (!offset) continue;
      setSpace(alloc, Space::Window);
      alloc.setOffset(offset);
    }
    updateFunctionType(function);
  }

  std::map<int64_t, SmallVector<func::FuncOp>> byStage;  // -1: run by all ranks
  SmallVector<func::FuncOp> functions;                   // of the stage whose memory is planned
  SmallVector<SharedArgument, 0> shared;
  std::optional<SymbolTable> kernels;
  std::map<Operation*, BufferUses> usesOf;  // of functions whose callees have their scratch
};

}  // namespace
