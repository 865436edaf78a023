// The parts of the module.
#pragma once

#include <nanobind/nanobind.h>

namespace sgd::python {

void BindCompile(nanobind::module_& module);
void BindExecutable(nanobind::module_& module);
void BindTraining(nanobind::module_& module);
void BindTensorFiles(nanobind::module_& module);

}  // namespace sgd::python
