// Declares kernel functions.
#include "targets/gpu/codegen/entry_point.h"

#include "dialects/fusion/fusion_dialect.h"
#include "targets/gpu/codegen/block_builder.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;

EntryPoint mlir::sgd::gpu::createEntryPoint(llvm::Module& module, llvm::IRBuilder<>& b, const KernelRequest& request,
                                            unsigned coordinates, unsigned threads) {
  fusion::ClusterOp cluster = request.body;
  EntryPoint entry;
  entry.overwritten.assign(cluster->getNumOperands(), false);
  for (InPlacePair pair : request.inPlace) entry.overwritten[pair.second] = true;
  size_t buffers = llvm::count(entry.overwritten, false) + cluster->getNumResults();
  SmallVector<llvm::Type*> parameters(buffers, b.getPtrTy(kGlobal));
  parameters.append(coordinates, b.getInt64Ty());
  auto* type = llvm::FunctionType::get(b.getVoidTy(), parameters, false);
  entry.function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, request.symbol, module);
  entry.function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  entry.function->addFnAttr(llvm::Attribute::NoUnwind);
  entry.function->addFnAttr("nvvm.reqntid", std::to_string(threads));
  auto* next = entry.function->arg_begin();
  entry.operands.assign(cluster->getNumOperands(), nullptr);
  for (unsigned operand = 0; operand < cluster->getNumOperands(); ++operand)
    if (!entry.overwritten[operand]) entry.operands[operand] = next++;
  for (unsigned result = 0; result < cluster->getNumResults(); ++result) entry.results.push_back(next++);
  for (InPlacePair pair : request.inPlace) entry.operands[pair.second] = entry.results[pair.first];
  for (unsigned coordinate = 0; coordinate < coordinates; ++coordinate) entry.coordinates.push_back(next++);
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", entry.function));
  return entry;
}
