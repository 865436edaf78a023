// Turns a module for GPUs into one for the host: intrinsics become calls of the emulator, kernels ordinary functions.
#include "tests/targets/gpu/emulator/kernel_emulator.h"

#include <map>

#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "tests/targets/gpu/emulator/block_fibres.h"

namespace sgd::emulator {

namespace {

constexpr const char* kThread = "sgd_emulated_thread";
constexpr const char* kBlock = "sgd_emulated_block";
constexpr const char* kBarrier = "sgd_emulated_barrier";
constexpr const char* kExchange = "sgd_emulated_exchange";
constexpr unsigned kSharedSpace = 3;

thread_local BlockFibres* running = nullptr;
thread_local uint32_t running_block = 0;

uint32_t Thread() { return running->thread(); }
uint32_t Block() { return running_block; }
void Barrier() { running->Barrier(); }
int32_t Exchange(int32_t value, uint32_t distance) { return running->Exchange(value, distance); }

struct SharedArray {
  std::string name;
  uint64_t bytes;
  char* data = nullptr;
};

struct Kernel {
  using Function = void (*)(const uint64_t*);
  Function function = nullptr;
  uint32_t threads = 0;
  size_t parameters = 0;
  bool waits = false;
  std::vector<SharedArray> shared;
};

// Replaces the intrinsics of NVVM; whether `function` waits for other threads. Fails on an intrinsic that kernels do
// not use.
bool ReplaceIntrinsics(llvm::Function& function, bool& waits, std::string* error) {
  llvm::Module& module = *function.getParent();
  llvm::SmallVector<llvm::IntrinsicInst*> calls;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& instruction : block)
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
        if (call->getCalledFunction()->getName().starts_with("llvm.nvvm.")) calls.push_back(call);
  for (llvm::IntrinsicInst* call : calls) {
    llvm::IRBuilder<> b(call);
    auto emit = [&](const char* name, llvm::Type* type, llvm::ArrayRef<llvm::Value*> arguments) -> llvm::Value* {
      llvm::SmallVector<llvm::Type*> types;
      for (llvm::Value* argument : arguments) types.push_back(argument->getType());
      return b.CreateCall(module.getOrInsertFunction(name, llvm::FunctionType::get(type, types, false)), arguments);
    };
    llvm::Value* result = nullptr;
    switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x:
        result = emit(kThread, b.getInt32Ty(), {});
        break;
      case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
        result = emit(kBlock, b.getInt32Ty(), {});
        break;
      case llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all:
        result = emit(kBarrier, b.getVoidTy(), {});
        waits = true;
        break;
      case llvm::Intrinsic::nvvm_shfl_sync_bfly_i32:
        result = emit(kExchange, b.getInt32Ty(), {call->getArgOperand(1), call->getArgOperand(2)});
        waits = true;
        break;
      default:
        *error = "intrinsic " + call->getCalledFunction()->getName().str() + " is not emulated";
        return false;
    }
    call->replaceAllUsesWith(result);
    call->eraseFromParent();
  }
  return true;
}

// `void NAME.call(const uint64_t*)` calls `kernel` with the numbers as its parameters.
void AddCaller(llvm::Function& kernel) {
  llvm::LLVMContext& context = kernel.getContext();
  llvm::IRBuilder<> b(context);
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
  auto* caller =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kernel.getName() + ".call", kernel.getParent());
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", caller));
  llvm::SmallVector<llvm::Value*> arguments;
  for (llvm::Argument& parameter : kernel.args())
    arguments.push_back(b.CreateLoad(parameter.getType(),
                                     b.CreateConstGEP1_64(b.getInt64Ty(), caller->getArg(0), parameter.getArgNo())));
  b.CreateCall(&kernel, arguments);
  b.CreateRetVoid();
}

std::string Text(llvm::Error error) { return llvm::toString(std::move(error)); }

llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> CreateJit() {
  static const bool initialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)initialized;
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host) return host.takeError();
  host->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*host)).create();
}

llvm::Error DefineEmulator(llvm::orc::LLJIT& jit) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](const char* name, auto* function) {
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function), llvm::JITSymbolFlags::Exported};
  };
  add(kThread, &Thread);
  add(kBlock, &Block);
  add(kBarrier, &Barrier);
  add(kExchange, &Exchange);
  return jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)));
}

}  // namespace

struct KernelModule::Contents {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::map<std::string, Kernel> kernels;
  BlockFibres fibres;

  bool Prepare(llvm::Module& module, std::string* error);
  llvm::Error Find();
};

bool KernelModule::Contents::Prepare(llvm::Module& module, std::string* error) {
  module.setDataLayout(jit->getDataLayout());
  module.setTargetTriple(jit->getTargetTriple());
  llvm::SmallVector<llvm::Function*> functions;
  for (llvm::Function& function : module)
    if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel) functions.push_back(&function);
  for (llvm::Function* function : functions) {
    Kernel& kernel = kernels[function->getName().str()];
    kernel.parameters = function->arg_size();
    function->getFnAttribute("nvvm.reqntid").getValueAsString().getAsInteger(10, kernel.threads);
    function->setCallingConv(llvm::CallingConv::C);
    if (!ReplaceIntrinsics(*function, kernel.waits, error)) return false;
    AddCaller(*function);
  }
  for (llvm::GlobalVariable& global : module.globals()) {
    if (global.getAddressSpace() != kSharedSpace) continue;
    global.setLinkage(llvm::GlobalValue::ExternalLinkage);
    // A kernel's arrays begin with its name.
    for (auto& [name, kernel] : kernels)
      if (global.getName().starts_with(name + "_"))
        kernel.shared.push_back(
            {global.getName().str(), module.getDataLayout().getTypeAllocSize(global.getValueType())});
  }
  llvm::raw_string_ostream stream(*error);
  return !llvm::verifyModule(module, &stream);
}

llvm::Error KernelModule::Contents::Find() {
  for (auto& [name, kernel] : kernels) {
    auto address = jit->lookup(name + ".call");
    if (!address) return address.takeError();
    kernel.function = address->toPtr<Kernel::Function>();
    for (SharedArray& array : kernel.shared) {
      auto data = jit->lookup(array.name);
      if (!data) return data.takeError();
      array.data = data->toPtr<char*>();
    }
  }
  return llvm::Error::success();
}

KernelModule::KernelModule(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
KernelModule::~KernelModule() = default;

std::unique_ptr<KernelModule> KernelModule::Load(const std::string& text, std::string* error) {
  auto fail = [&](std::string message) {
    *error = std::move(message);
    return nullptr;
  };
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, diagnostic, *context);
  if (!module) return fail("line " + std::to_string(diagnostic.getLineNo()) + ": " + diagnostic.getMessage().str());
  auto contents = std::make_unique<Contents>();
  auto jit = CreateJit();
  if (!jit) return fail(Text(jit.takeError()));
  contents->jit = std::move(*jit);
  if (!contents->Prepare(*module, error)) return nullptr;
  if (llvm::Error problem = DefineEmulator(*contents->jit)) return fail(Text(std::move(problem)));
  if (llvm::Error problem =
          contents->jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))))
    return fail(Text(std::move(problem)));
  if (llvm::Error problem = contents->Find()) return fail(Text(std::move(problem)));
  return std::unique_ptr<KernelModule>(new KernelModule(std::move(contents)));
}

bool KernelModule::Has(const std::string& symbol) const { return contents_->kernels.contains(symbol); }

std::string KernelModule::Launch(const std::string& symbol, const Grid& grid, std::span<const uint64_t> parameters,
                                 Order order) {
  const auto found = contents_->kernels.find(symbol);
  if (found == contents_->kernels.end()) return "no kernel is named " + symbol;
  const Kernel& kernel = found->second;
  if (kernel.threads != grid.threads)
    return symbol + " needs blocks of " + std::to_string(kernel.threads) + " threads, not " +
           std::to_string(grid.threads);
  if (kernel.parameters != parameters.size())
    return symbol + " has " + std::to_string(kernel.parameters) + " parameters, not " +
           std::to_string(parameters.size());
  const bool backward = order == Order::kBackward;
  const std::function<void()> body = [&] { kernel.function(parameters.data()); };
  BlockFibres* const outer = running;
  running = &contents_->fibres;
  std::string problem;
  for (uint32_t i = 0; i < grid.blocks && problem.empty(); ++i) {
    running_block = grid.first_block + (backward ? grid.blocks - 1 - i : i);
    for (const SharedArray& array : kernel.shared) memset(array.data, 0xFF, array.bytes);
    if (kernel.waits)
      problem = contents_->fibres.Run(grid.threads, backward, body);
    else
      contents_->fibres.RunOneByOne(grid.threads, backward, body);
    if (!problem.empty()) problem = symbol + ", block " + std::to_string(running_block) + ": " + problem;
  }
  running = outer;
  return problem;
}

}  // namespace sgd::emulator
