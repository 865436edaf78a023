// The line of the user's program behind each kind of location.
#include "dialects/sgd/source_line.h"

#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"

namespace mlir::sgd {
namespace {

class SourceLine : public ::testing::Test {
 protected:
  Location file(const char* name, unsigned line) { return FileLineColLoc::get(&context, name, line, 7); }
  MLIRContext context{MLIRContext::Threading::DISABLED};
};

TEST_F(SourceLine, FileItself) { EXPECT_EQ(getSourceLine(file("mlp.py", 31)), "mlp.py:31:7"); }

TEST_F(SourceLine, NothingKnown) {
  EXPECT_EQ(getSourceLine(UnknownLoc::get(&context)), "");
  EXPECT_EQ(getSourceLine(NameLoc::get(StringAttr::get(&context, "params['w']"))), "");
}

TEST_F(SourceLine, NamesAreLookedThrough) {
  EXPECT_EQ(getSourceLine(NameLoc::get(StringAttr::get(&context, "jit(step)/dot"), file("mlp.py", 3))), "mlp.py:3:7");
}

TEST_F(SourceLine, CallsGiveTheInnermostFile) {
  Location call = CallSiteLoc::get(file("model.py", 5), file("train.py", 90));
  EXPECT_EQ(getSourceLine(call), "model.py:5:7");
  EXPECT_EQ(getSourceLine(CallSiteLoc::get(UnknownLoc::get(&context), call)), "model.py:5:7");
}

TEST_F(SourceLine, FusedGivesTheFirstKnown) {
  EXPECT_EQ(getSourceLine(FusedLoc::get(&context, {UnknownLoc::get(&context), file("a.py", 1), file("b.py", 2)})),
            "a.py:1:7");
}

}  // namespace
}  // namespace mlir::sgd
