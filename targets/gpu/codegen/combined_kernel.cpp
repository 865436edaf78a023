// Every kernel among the parts stands once in the combined one, whatever the number of its launches: a tree of
// comparisons of the block's number picks the part, whose parameters and first block then go to that code.
#include "targets/gpu/codegen/combined_kernel.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "targets/gpu/codegen/block_builder.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

namespace {

/// The function with its block's number as one more argument: i32.
llvm::Function* takeBlockNumber(llvm::Function* kernel) {
  llvm::LLVMContext& context = kernel->getContext();
  SmallVector<llvm::Type*> types(kernel->getFunctionType()->params());
  types.push_back(llvm::Type::getInt32Ty(context));
  auto* body = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false),
                                      llvm::GlobalValue::InternalLinkage, "", kernel->getParent());
  body->splice(body->begin(), kernel);
  for (auto [before, after] : llvm::zip(kernel->args(), body->args())) before.replaceAllUsesWith(&after);
  SmallVector<llvm::IntrinsicInst*> blocks;
  for (llvm::BasicBlock& block : *body)
    for (llvm::Instruction& instruction : block)
      if (auto* call = dyn_cast<llvm::IntrinsicInst>(&instruction))
        if (call->getIntrinsicID() == llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x) blocks.push_back(call);
  for (llvm::IntrinsicInst* block : blocks) {
    block->replaceAllUsesWith(&*std::prev(body->arg_end()));
    block->eraseFromParent();
  }
  kernel->eraseFromParent();
  return body;
}

class CombinedEmitter {
 public:
  CombinedEmitter(llvm::Module& module, const CombinedRequest& combined, ArrayRef<KernelRequest> requests)
      : module(module), combined(combined), requests(requests), b(module.getContext()) {}

  FailureOr<KernelMetrics> run(llvm::function_ref<FailureOr<unsigned>(llvm::Module&, const KernelRequest&)> emit) {
    for (const CombinedPart& part : combined.parts)
      if (failed(addBody(part.request, emit))) return failure();
    declare();
    block = BlockBuilder(b).block();
    choosePart(0, combined.parts.size());
    for (Body& body : bodies) callBody(body);
    shareMemory();
    return getMetrics(*kernel);
  }

 private:
  /// The code of one kernel: its entry, and its arguments there.
  struct Body {
    unsigned request;
    std::string symbol;
    llvm::Function* function;
    llvm::BasicBlock* begin = nullptr;
    SmallVector<llvm::PHINode*> arguments;  // the last one: the number of the part's first block
  };

  LogicalResult addBody(unsigned request,
                        llvm::function_ref<FailureOr<unsigned>(llvm::Module&, const KernelRequest&)> emit) {
    if (llvm::any_of(bodies, [&](const Body& body) { return body.request == request; })) return success();
    KernelRequest named = requests[request];
    named.symbol = combined.symbol + "_" + std::to_string(bodies.size());
    FailureOr<unsigned> needed = emit(module, named);
    if (failed(needed)) return failure();
    threads = std::max(threads, *needed);
    bodies.push_back({request, named.symbol, takeBlockNumber(module.getFunction(named.symbol)), nullptr, {}});
    return success();
  }

  Body& bodyOf(const CombinedPart& part) {
    return *llvm::find_if(bodies, [&](const Body& body) { return body.request == part.request; });
  }

  /// The function's parameters, and a block for each body with places for its arguments.
  void declare() {
    SmallVector<llvm::Type*> parameters;
    for (const CombinedPart& part : combined.parts)
      llvm::append_range(parameters, bodyOf(part).function->getFunctionType()->params().drop_back());
    kernel = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), parameters, false),
                                    llvm::GlobalValue::ExternalLinkage, combined.symbol, module);
    kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
    kernel->addFnAttr(llvm::Attribute::NoUnwind);
    kernel->addFnAttr("nvvm.reqntid", std::to_string(threads));
    setSchedule(*kernel, "combined");
    auto* entry = llvm::BasicBlock::Create(module.getContext(), "entry", kernel);
    for (Body& body : bodies) {
      body.begin = llvm::BasicBlock::Create(module.getContext(), "part", kernel);
      b.SetInsertPoint(body.begin);
      for (llvm::Argument& argument : body.function->args())
        body.arguments.push_back(b.CreatePHI(argument.getType(), combined.parts.size()));
    }
    b.SetInsertPoint(entry);
    auto* parameter = kernel->arg_begin();
    int64_t first = 0;
    for (const CombinedPart& part : combined.parts) {
      firstBlocks.push_back(first);
      firstParameters.push_back(parameter);
      first += part.blocks;
      parameter += bodyOf(part).arguments.size() - 1;
    }
  }

  /// Goes to the part among [low, high) that this block belongs to.
  void choosePart(size_t low, size_t high) {
    if (high - low == 1) return enterPart(low);
    size_t middle = (low + high) / 2;
    auto* left = llvm::BasicBlock::Create(module.getContext(), "left", kernel);
    auto* right = llvm::BasicBlock::Create(module.getContext(), "right", kernel);
    b.CreateCondBr(b.CreateICmpULT(block, b.getInt32(firstBlocks[middle])), left, right);
    b.SetInsertPoint(left);
    choosePart(low, middle);
    b.SetInsertPoint(right);
    choosePart(middle, high);
  }

  void enterPart(size_t number) {
    Body& body = bodyOf(combined.parts[number]);
    llvm::Argument* parameter = firstParameters[number];
    for (llvm::PHINode* argument : ArrayRef(body.arguments).drop_back())
      argument->addIncoming(parameter++, b.GetInsertBlock());
    body.arguments.back()->addIncoming(b.getInt32(firstBlocks[number]), b.GetInsertBlock());
    b.CreateBr(body.begin);
  }

  void callBody(Body& body) {
    b.SetInsertPoint(body.begin);
    SmallVector<LValue*> arguments(body.arguments.begin(), body.arguments.end());
    arguments.back() = b.CreateSub(block, arguments.back());
    llvm::CallInst* call = b.CreateCall(body.function, arguments);
    b.CreateRetVoid();
    llvm::InlineFunctionInfo information;
    bool isInlined = llvm::InlineFunction(*call, information).isSuccess();
    assert(isInlined && "bodies are plain code");
    (void)isInlined;
    body.function->eraseFromParent();
  }

  /// A block runs one body: their shared arrays may overlap.
  void shareMemory() {
    SmallVector<std::pair<llvm::GlobalVariable*, uint64_t>> places;
    uint64_t most = 0;
    for (const Body& body : bodies) {
      uint64_t bytes = 0;
      for (llvm::GlobalVariable& array : module.globals()) {
        if (array.getAddressSpace() != kShared || !array.getName().starts_with(body.symbol + "_")) continue;
        bytes = llvm::alignTo(bytes, array.getAlign().valueOrOne());
        places.push_back({&array, bytes});
        bytes += module.getDataLayout().getTypeAllocSize(array.getValueType());
      }
      most = std::max(most, bytes);
    }
    if (places.empty()) return;
    b.SetInsertPoint(&kernel->getEntryBlock());
    llvm::GlobalVariable* all = BlockBuilder(b).sharedArray(b.getInt8Ty(), most, combined.symbol + "_shared");
    for (auto [array, offset] : places) {
      array->replaceAllUsesWith(llvm::ConstantExpr::getInBoundsGetElementPtr(b.getInt8Ty(), all, b.getInt64(offset)));
      array->eraseFromParent();
    }
  }

  llvm::Module& module;
  const CombinedRequest& combined;
  ArrayRef<KernelRequest> requests;
  llvm::IRBuilder<> b;
  unsigned threads = 0;
  std::vector<Body> bodies;
  llvm::Function* kernel = nullptr;
  LValue* block = nullptr;
  SmallVector<int64_t> firstBlocks;              // by part
  SmallVector<llvm::Argument*> firstParameters;  // by part
};

}  // namespace

FailureOr<KernelMetrics> mlir::sgd::gpu::emitCombinedKernel(
    llvm::Module& module, const CombinedRequest& combined, ArrayRef<KernelRequest> requests,
    llvm::function_ref<FailureOr<unsigned>(llvm::Module&, const KernelRequest&)> emit) {
  return CombinedEmitter(module, combined, requests).run(emit);
}
