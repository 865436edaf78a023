# Flags and target functions for the whole tree: a CMake target is a folder, and it lists the folders it may include.

find_program(SGD_CCACHE ccache)
if(SGD_CCACHE)
  # Precompiled headers are only cacheable when ccache may ignore their definitions and time macros.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1 ${SGD_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter)
add_link_options(-fuse-ld=lld)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-fcolor-diagnostics)
endif()
if(SGD_SANITIZE)
  add_compile_options(-fsanitize=${SGD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g1)
  add_link_options(-fsanitize=${SGD_SANITIZE})
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)
  set(SGD_PCH_FLAGS -Xclang -fno-pch-timestamp)
  # ccache makes the path of -include-pch relative, not CMake's `-Xclang -include-pch`.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
endif()

# sgd_precompiled_header(NAME HEADERS a.h ... FLAGS ... SOURCES f ...): the last of HEADERS, of cmake/, compiled once; it includes those
# before it, and headers generated from SOURCES. Targets with the same flags take it by REUSE_FROM.
function(sgd_precompiled_header name)
  cmake_parse_arguments(ARG "" "" "HEADERS;FLAGS;SOURCES" ${ARGN})
  list(TRANSFORM ARG_HEADERS PREPEND ${CMAKE_SOURCE_DIR}/cmake/)
  list(GET ARG_HEADERS -1 header)
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_compile_options(${name} PRIVATE ${ARG_FLAGS} ${SGD_PCH_FLAGS})
  target_precompile_headers(${name} PRIVATE ${header})
  # ccache takes this sum in place of the compiled file, which holds the checkout's path: so objects are shared between checkouts.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARG_HEADERS} ${ARG_SOURCES})
  set(sum)
  foreach(file IN LISTS ARG_HEADERS ARG_SOURCES)
    file(SHA256 ${file} file_sum)
    string(APPEND sum ${file_sum})
  endforeach()
  string(SHA256 sum "${sum} ${CMAKE_CXX_COMPILER_VERSION} ${MLIR_VERSION} ${CMAKE_CXX_FLAGS} ${CMAKE_BUILD_TYPE} ${ARG_FLAGS} ${SGD_SANITIZE}")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch.sum ${sum})
endfunction()

find_package(Threads REQUIRED)
set(schema ${CMAKE_SOURCE_DIR}/runtime/artifact/program.fbs)
sgd_precompiled_header(sgd_runtime_pch HEADERS runtime_pch.h)
sgd_precompiled_header(sgd_artifact_pch HEADERS runtime_pch.h artifact_pch.h SOURCES ${schema})
add_dependencies(sgd_artifact_pch sgd_program_schema)
if(SGD_BUILD_TESTS)
  find_package(GTest REQUIRED)
  # sgd_test_precompiled_header(NAME FLAGS ...)
  function(sgd_test_precompiled_header name)
    sgd_precompiled_header(${name} HEADERS runtime_pch.h artifact_pch.h test_pch.h FLAGS ${ARGN} SOURCES ${schema})
    add_dependencies(${name} sgd_program_schema)
    target_link_libraries(${name} PRIVATE GTest::gmock)
  endfunction()
  # Most tests' own code runs for milliseconds: without optimisation it compiles in half the time.
  sgd_test_precompiled_header(sgd_test_pch -O0)
  sgd_test_precompiled_header(sgd_hot_test_pch -O1)
endif()

# Sources of a folder are compiled several at a time: of a source by itself, most of the time goes to headers and templates that its
# neighbours need too. Those that open other namespaces (MLIR's, LLVM's) are kept apart.
option(SGD_UNITY "compile several sources of a folder as one" ON)
set(SGD_UNITY_SOURCES 8)
function(sgd_merge_sources name)
  if(NOT SGD_UNITY)
    return()
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${name} SOURCES)
  list(FILTER sources INCLUDE REGEX "^[a-z0-9_]+[.]cpp$")
  foreach(source IN LISTS sources)
    file(STRINGS ${source} opened REGEX "^using namespace")
    string(MD5 kind "${opened}")
    if(NOT DEFINED count_${kind})
      set(count_${kind} 0)
    endif()
    math(EXPR part "${count_${kind}} / ${SGD_UNITY_SOURCES}")
    math(EXPR count_${kind} "${count_${kind}} + 1")
    string(SUBSTRING ${kind} 0 6 kind)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${kind}_${part})
  endforeach()
endfunction()

# sgd_library(NAME SRCS a.cpp ... DEPS target ...): a static library of one folder of the runtime half. Those that depend on
# sgd_runtime_artifact take the precompiled header which has its schema.
function(sgd_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  set(pch sgd_runtime_pch)
  if(name STREQUAL sgd_runtime_artifact OR sgd_runtime_artifact IN_LIST ARG_DEPS)
    set(pch sgd_artifact_pch)
  endif()
  if(ARG_SRCS)
    add_library(${name} STATIC ${ARG_SRCS})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_DEPS})
    target_compile_options(${name} PRIVATE ${SGD_PCH_FLAGS})
    target_precompile_headers(${name} REUSE_FROM ${pch})
    sgd_merge_sources(${name})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
  endif()
endfunction()

# Executables are compiled as libraries are (-fPIC, not -fPIE), else they could not take a library's precompiled header.
function(sgd_reuse_in_executable name pch)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC ${SGD_PCH_FLAGS})
  target_precompile_headers(${name} REUSE_FROM ${pch})
endfunction()

# sgd_executable(NAME SRCS ... DEPS ...): a tool; installs nothing, lands in build/bin.
function(sgd_executable name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  sgd_reuse_in_executable(${name} sgd_artifact_pch)
endfunction()

# sgd_command_line(FILE): the source that parses a tool's flags. CLI11 throws, and its templates take an optimizer ten seconds for what runs
# once.
function(sgd_command_line file)
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-O0;-fexceptions;-frtti" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# sgd_test(NAME SRCS ... DEPS ... [LABELS ...] [HOT]): a GoogleTest binary of the runtime half, registered as one ctest test. HOT: its own
# code, such as a plain product to compare with, runs for seconds.
function(sgd_test name)
  cmake_parse_arguments(ARG "HOT" "" "SRCS;DEPS;LABELS" ${ARGN})
  sgd_gtest(${name} SRCS ${ARG_SRCS} DEPS ${ARG_DEPS} LABELS ${ARG_LABELS})
  # Sanitizers' checks are slow enough as they are.
  if(ARG_HOT OR SGD_SANITIZE)
    target_compile_options(${name} PRIVATE -O1)
    sgd_reuse_in_executable(${name} sgd_hot_test_pch)
  else()
    target_compile_options(${name} PRIVATE -O0)
    sgd_reuse_in_executable(${name} sgd_test_pch)
  endif()
endfunction()

# What tests of both halves share.
function(sgd_gtest name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  sgd_merge_sources(${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS "unit;${ARG_LABELS}")
endfunction()
