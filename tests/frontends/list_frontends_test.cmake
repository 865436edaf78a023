# A folder with a frontend.cpp is in the list, in alphabetical order, and any other folder is not.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${FOLDER})
foreach(file onnx/frontend.cpp native/frontend.cpp text/parse.cpp)
  file(WRITE ${FOLDER}/${file} "")
endforeach()
file(CONFIGURE OUTPUT ${FOLDER}/CMakeLists.txt @ONLY CONTENT [[
cmake_minimum_required(VERSION 3.25)
project(listed LANGUAGES NONE)
include(@SOURCE_DIR@/frontends/list_frontends.cmake)
sgd_list_frontends(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/list.cpp folders)
file(WRITE ${CMAKE_BINARY_DIR}/folders "${folders}")
add_custom_target(listed ALL)
]])

function(expect_list expected_folders expected_objects)
  execute_process(COMMAND ${CMAKE_COMMAND} ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
  file(READ ${FOLDER}/build/folders folders)
  file(READ ${FOLDER}/build/list.cpp list)
  string(REGEX MATCH "frontends\\[\\] = {[^}]*}" objects "${list}")
  string(REGEX MATCHALL "const Frontend& get[A-Za-z0-9]+Frontend" declarations "${list}")
  list(LENGTH declarations declared)
  list(LENGTH folders listed)
  if(NOT folders STREQUAL expected_folders OR NOT objects STREQUAL "frontends[] = {${expected_objects}}" OR NOT declared EQUAL listed)
    message(FATAL_ERROR "'${folders}', in the source: ${list}")
  endif()
endfunction()

expect_list("native;onnx" "&getNativeFrontend(), &getOnnxFrontend()" -G ${GENERATOR} -S ${FOLDER} -B ${FOLDER}/build)
# The next build takes up a folder that was added since.
file(WRITE ${FOLDER}/pt2/frontend.cpp "")
expect_list("native;onnx;pt2" "&getNativeFrontend(), &getOnnxFrontend(), &getPt2Frontend()" --build ${FOLDER}/build)
