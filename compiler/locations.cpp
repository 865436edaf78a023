// Walks a location down to its file.
#include "compiler/locations.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

std::string mlir::sgd::getUserLocation(Location location) {
  return llvm::TypeSwitch<LocationAttr, std::string>(location)
      .Case([](FileLineColRange range) {
        if (range.getStartLine() == 0) return range.getFilename().str();
        return (range.getFilename().getValue() + ":" + llvm::Twine(range.getStartLine()) + ":" +
                llvm::Twine(range.getStartColumn()))
            .str();
      })
      .Case([](NameLoc name) { return getUserLocation(name.getChildLoc()); })
      .Case([](CallSiteLoc call) {
        std::string callee = getUserLocation(call.getCallee());
        return callee.empty() ? getUserLocation(call.getCaller()) : callee;
      })
      .Case([](FusedLoc fused) {
        for (Location part : fused.getLocations())
          if (std::string found = getUserLocation(part); !found.empty()) return found;
        return std::string();
      })
      .Case([](OpaqueLoc opaque) { return getUserLocation(opaque.getFallbackLocation()); })
      .Default([](LocationAttr) { return std::string(); });
}
