// The user's place behind each kind of location.
#include "compiler/locations.h"

#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"

namespace mlir::sgd {
namespace {

class Locations : public ::testing::Test {
 protected:
  Location file(const char* name, unsigned line) { return FileLineColLoc::get(&context, name, line, 7); }
  MLIRContext context{MLIRContext::Threading::DISABLED};
};

TEST_F(Locations, FileItself) { EXPECT_EQ(getUserLocation(file("mlp.py", 31)), "mlp.py:31:7"); }

TEST_F(Locations, NothingKnown) {
  EXPECT_EQ(getUserLocation(UnknownLoc::get(&context)), "");
  EXPECT_EQ(getUserLocation(NameLoc::get(StringAttr::get(&context, "params['w']"))), "");
}

TEST_F(Locations, NamesAreLookedThrough) {
  EXPECT_EQ(getUserLocation(NameLoc::get(StringAttr::get(&context, "jit(step)/dot"), file("mlp.py", 3))), "mlp.py:3:7");
}

TEST_F(Locations, CallsGiveTheInnermostFile) {
  Location call = CallSiteLoc::get(file("model.py", 5), file("train.py", 90));
  EXPECT_EQ(getUserLocation(call), "model.py:5:7");
  EXPECT_EQ(getUserLocation(CallSiteLoc::get(UnknownLoc::get(&context), call)), "model.py:5:7");
}

TEST_F(Locations, FusedGivesTheFirstKnown) {
  EXPECT_EQ(getUserLocation(FusedLoc::get(&context, {UnknownLoc::get(&context), file("a.py", 1), file("b.py", 2)})),
            "a.py:1:7");
}

}  // namespace
}  // namespace mlir::sgd
