// The module sgd._sgd, of which the package's Python files are the interface.
#include <nanobind/nanobind.h>

#include "python/module/interruptible.h"
#include "python/module/parts.h"

NB_MODULE(_sgd, module) {
  module.doc() = "The compiler and the runtime of the package sgd.";
  sgd::python::RememberMainThread();
  sgd::python::BindCompile(module);
  sgd::python::BindExecutable(module);
  sgd::python::BindTraining(module);
  sgd::python::BindTensorFiles(module);
}
