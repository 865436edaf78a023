// Registers every dialect and pass of the compiler in one place, for the driver and for sgd-opt.
#ifndef SGD_COMPILER_REGISTRATION_H
#define SGD_COMPILER_REGISTRATION_H

namespace mlir {
class DialectRegistry;
namespace sgd {

class LibraryModel;

/// Dialects of all levels, input dialects included, and the interfaces attached to upstream ones.
void registerDialects(DialectRegistry& registry);

/// Passes by their command-line names; those that ask libraries ask `libraries`, which outlives them.
void registerPasses(const LibraryModel& libraries);

}  // namespace sgd
}  // namespace mlir

#endif
