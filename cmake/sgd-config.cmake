# find_package(sgd): the target sgd::sgd, libsgd.so with its header sgd.h.
include("${CMAKE_CURRENT_LIST_DIR}/sgd-targets.cmake")
