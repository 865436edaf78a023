// Turns a module for GPUs into one for the host: intrinsics become calls of the emulator, kernels ordinary functions.
#include "tests/targets/gpu/emulator/kernel_emulator.h"

#include <map>
#include <utility>

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
constexpr const char* kBallot = "sgd_emulated_ballot";
constexpr const char* kJudge = "sgd_emulated_judge";
constexpr unsigned kSharedSpace = 3;
constexpr uint32_t kWrite = 1, kReadOnly = 2, kShared = 4;

thread_local BlockFibres* running = nullptr;
thread_local AccessChecker* judging = nullptr;
thread_local WarpAccesses* counting = nullptr;
thread_local uint32_t running_block = 0;

uint32_t Thread() { return running->thread(); }
uint32_t Block() { return running_block; }
void Barrier(uint32_t site) { running->Barrier(site); }
int32_t Exchange(uint32_t site, uint32_t lanes, int32_t value, uint32_t distance) {
  return running->Exchange(site, lanes, value, distance);
}
uint32_t Ballot(uint32_t site, uint32_t lanes, bool vote) { return running->Ballot(site, lanes, vote); }
void* Judge(uint32_t site, void* address, uint32_t bytes, uint32_t align, uint32_t flags) {
  const Access access{reinterpret_cast<uintptr_t>(address), bytes, align, (flags & kWrite) != 0,
                      (flags & kReadOnly) != 0};
  if (counting != nullptr) counting->Add(running->thread(), site, access, (flags & kShared) != 0);
  return reinterpret_cast<void*>(judging->Judge(running->thread(), access, (flags & kShared) != 0));
}

struct Array {
  std::string name;
  uint64_t bytes;
  char* data = nullptr;

  Extent extent() const { return {reinterpret_cast<uintptr_t>(data), bytes}; }
};

struct Kernel {
  using Function = void (*)(const uint64_t*);
  Function function = nullptr;
  uint32_t threads = 0;
  size_t parameters = 0;
  bool waits = false;
  std::vector<Array> shared;
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
  uint32_t sites = 0;
  for (llvm::IntrinsicInst* call : calls) {
    llvm::IRBuilder<> b(call);
    auto emit = [&](const char* name, llvm::Type* type, llvm::ArrayRef<llvm::Value*> arguments) -> llvm::Value* {
      llvm::SmallVector<llvm::Type*> types;
      for (llvm::Value* argument : arguments) types.push_back(argument->getType());
      return b.CreateCall(module.getOrInsertFunction(name, llvm::FunctionType::get(type, types, false)), arguments);
    };
    llvm::Value* result = nullptr;
    llvm::Value* site = b.getInt32(++sites);
    switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x:
        result = emit(kThread, b.getInt32Ty(), {});
        break;
      case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
        result = emit(kBlock, b.getInt32Ty(), {});
        break;
      case llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all:
        result = emit(kBarrier, b.getVoidTy(), {site});
        waits = true;
        break;
      case llvm::Intrinsic::nvvm_shfl_sync_bfly_i32:
        result = emit(kExchange, b.getInt32Ty(),
                      {site, call->getArgOperand(0), call->getArgOperand(1), call->getArgOperand(2)});
        waits = true;
        break;
      case llvm::Intrinsic::nvvm_vote_ballot_sync:
        result = emit(kBallot, b.getInt32Ty(), {site, call->getArgOperand(0), call->getArgOperand(1)});
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

// The accesses of `function` ask first.
void JudgeAccesses(llvm::Function& function, Judging judging) {
  llvm::Module& module = *function.getParent();
  llvm::IRBuilder<> b(module.getContext());
  llvm::FunctionCallee judge = module.getOrInsertFunction(
      kJudge, llvm::FunctionType::get(b.getPtrTy(),
                                      {b.getInt32Ty(), b.getPtrTy(), b.getInt32Ty(), b.getInt32Ty(), b.getInt32Ty()},
                                      /*isVarArg=*/false));
  llvm::SmallVector<llvm::Instruction*> accesses;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& instruction : block)
      if (llvm::getLoadStorePointerOperand(&instruction) != nullptr &&
          llvm::getLoadStoreAddressSpace(&instruction) != 0 &&
          (judging == Judging::kAll || llvm::getLoadStoreAddressSpace(&instruction) == kSharedSpace ||
           llvm::getLoadStoreType(&instruction)->isVectorTy()))
        accesses.push_back(&instruction);
  for (auto [site, access] : llvm::enumerate(accesses)) {
    b.SetInsertPoint(access);
    llvm::Value* address = llvm::getLoadStorePointerOperand(access);
    uint32_t flags = llvm::getLoadStoreAddressSpace(access) == kSharedSpace ? kShared : 0;
    if (llvm::isa<llvm::StoreInst>(access)) flags |= kWrite;
    if (access->hasMetadata(llvm::LLVMContext::MD_invariant_load)) flags |= kReadOnly;
    const uint64_t bytes = module.getDataLayout().getTypeStoreSize(llvm::getLoadStoreType(access));
    const uint64_t align = llvm::getLoadStoreAlignment(access).value();
    llvm::Value* judged = b.CreateCall(judge, {b.getInt32(site), b.CreateAddrSpaceCast(address, b.getPtrTy()),
                                               b.getInt32(bytes), b.getInt32(align), b.getInt32(flags)});
    access->replaceUsesOfWith(address, b.CreateAddrSpaceCast(judged, address->getType()));
  }
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
  add(kBallot, &Ballot);
  add(kJudge, &Judge);
  return jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)));
}

}  // namespace

struct KernelModule::Contents {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::map<std::string, Kernel> kernels;
  std::vector<Array> tables;  // constants in global memory
  BlockFibres fibres;
  AccessChecker checker;

  bool Prepare(llvm::Module& module, Judging accesses, std::string* error);
  llvm::Error Find();
  std::string Run(const Kernel& kernel, const Grid& grid, std::span<const uint64_t> parameters, Order order);
};

bool KernelModule::Contents::Prepare(llvm::Module& module, Judging accesses, std::string* error) {
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
    JudgeAccesses(*function, accesses);
    AddCaller(*function);
  }
  for (llvm::GlobalVariable& global : module.globals()) {
    if (global.getAddressSpace() == 0) continue;
    global.setLinkage(llvm::GlobalValue::ExternalLinkage);
    const uint64_t bytes = module.getDataLayout().getTypeAllocSize(global.getValueType());
    if (global.getAddressSpace() != kSharedSpace) {
      tables.push_back({global.getName().str(), bytes});
      continue;
    }
    // A kernel's arrays begin with its name.
    for (auto& [name, kernel] : kernels)
      if (global.getName().starts_with(name + "_")) kernel.shared.push_back({global.getName().str(), bytes});
  }
  llvm::raw_string_ostream stream(*error);
  return !llvm::verifyModule(module, &stream);
}

llvm::Error KernelModule::Contents::Find() {
  const auto find = [&](Array& array) -> llvm::Error {
    auto data = jit->lookup(array.name);
    if (!data) return data.takeError();
    array.data = data->toPtr<char*>();
    return llvm::Error::success();
  };
  for (Array& table : tables)
    if (llvm::Error problem = find(table)) return problem;
  for (auto& [name, kernel] : kernels) {
    auto address = jit->lookup(name + ".call");
    if (!address) return address.takeError();
    kernel.function = address->toPtr<Kernel::Function>();
    for (Array& array : kernel.shared)
      if (llvm::Error problem = find(array)) return problem;
  }
  return llvm::Error::success();
}

KernelModule::KernelModule(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
KernelModule::~KernelModule() = default;

std::unique_ptr<KernelModule> KernelModule::Load(const std::string& text, std::string* error, Judging accesses) {
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
  if (!contents->Prepare(*module, accesses, error)) return nullptr;
  if (llvm::Error problem = DefineEmulator(*contents->jit)) return fail(Text(std::move(problem)));
  if (llvm::Error problem =
          contents->jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))))
    return fail(Text(std::move(problem)));
  if (llvm::Error problem = contents->Find()) return fail(Text(std::move(problem)));
  return std::unique_ptr<KernelModule>(new KernelModule(std::move(contents)));
}

bool KernelModule::Has(const std::string& symbol) const { return contents_->kernels.contains(symbol); }

std::string KernelModule::Contents::Run(const Kernel& kernel, const Grid& grid, std::span<const uint64_t> parameters,
                                        Order order) {
  const bool backward = order == Order::kBackward;
  const std::function<void()> body = [&] { kernel.function(parameters.data()); };
  std::vector<Extent> shared;
  for (const Array& array : kernel.shared) shared.push_back(array.extent());
  std::string problem;
  for (uint32_t i = 0; i < grid.blocks && problem.empty(); ++i) {
    running_block = grid.first_block + (backward ? grid.blocks - 1 - i : i);
    checker.BeginBlock(running_block, shared);
    for (const Array& array : kernel.shared) memset(array.data, 0xFF, array.bytes);
    if (kernel.waits)
      problem = fibres.Run(grid.threads, backward, body, [&] { checker.Barrier(); });
    else
      fibres.RunOneByOne(grid.threads, backward, body);
    if (counting != nullptr) counting->EndBlock();
    if (problem.empty()) problem = checker.problem();
    if (!problem.empty()) problem = "block " + std::to_string(running_block) + ": " + problem;
  }
  return problem;
}

std::string KernelModule::Launch(const std::string& symbol, const Grid& grid, std::span<const uint64_t> parameters,
                                 Order order, const Memory& memory) {
  const auto found = contents_->kernels.find(symbol);
  if (found == contents_->kernels.end()) return "no kernel is named " + symbol;
  const Kernel& kernel = found->second;
  if (kernel.threads != grid.threads)
    return symbol + " needs blocks of " + std::to_string(kernel.threads) + " threads, not " +
           std::to_string(grid.threads);
  if (kernel.parameters != parameters.size())
    return symbol + " has " + std::to_string(kernel.parameters) + " parameters, not " +
           std::to_string(parameters.size());
  std::vector<Extent> extents(memory.extents.begin(), memory.extents.end());
  if (!extents.empty())
    for (const Array& table : contents_->tables) extents.push_back(table.extent());
  contents_->checker.BeginLaunch(extents, memory.tracks_order);
  BlockFibres* const outer = std::exchange(running, &contents_->fibres);
  AccessChecker* const outer_judge = std::exchange(judging, &contents_->checker);
  WarpAccesses* const outer_counts = std::exchange(counting, memory.counts);
  if (counting != nullptr) counting->BeginLaunch(symbol);
  std::string problem = contents_->Run(kernel, grid, parameters, order);
  running = outer;
  judging = outer_judge;
  counting = outer_counts;
  return problem.empty() ? problem : symbol + ", " + problem;
}

}  // namespace sgd::emulator
