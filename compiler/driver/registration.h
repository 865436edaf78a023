// Registers every dialect and pass of the compiler in one place, for the driver and for sgd-opt.
#ifndef SGD_COMPILER_REGISTRATION_H
#define SGD_COMPILER_REGISTRATION_H

namespace mlir {
class DialectRegistry;
namespace sgd {

/// Dialects of all levels, input dialects included, and the interfaces attached to upstream ones.
void registerDialects(DialectRegistry& registry);

/// Passes by their command-line names.
void registerPasses();

}  // namespace sgd
}  // namespace mlir

#endif
