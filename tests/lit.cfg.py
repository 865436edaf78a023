# Configuration of the FileCheck tests: the build folder comes from the environment variable SGD_BUILD_DIR.
import os
import shutil

import lit.formats

config.name = "sgd"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["models", "programs", "losses", "cases", "real", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
build = os.environ.get("SGD_BUILD_DIR") or lit_config.fatal("set SGD_BUILD_DIR to the build folder")
config.test_exec_root = os.path.join(build, "lit")
config.available_features = {name for name in os.listdir(os.path.join(build, "bin"))}

llvm = next((d for d in ("/usr/lib/llvm-22/bin",) if os.path.isdir(d)), os.path.dirname(shutil.which("FileCheck") or ""))
config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin"), llvm, os.environ["PATH"]])
config.environment["FILECHECK_OPTS"] = "--dump-input=fail"
