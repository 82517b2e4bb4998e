# grurun_room(NAME name SOURCES file... [DEPS target...] [PRIVATE_DEPS target...] [PRECOMPILE header...] [NOT_INSTALLED])
# makes the library grurun_<name> with the alias grurun::<name> from one room of the house. Headers are included by their
# path from the repository's root. A room without sources is an interface library. Library, headers and target are
# installed as part of the CMake package grurun, unless NOT_INSTALLED. PRECOMPILE: what most of its sources include, parsed once
# for all.
function(grurun_room)
  cmake_parse_arguments(PARSE_ARGV 0 room "NOT_INSTALLED" "NAME" "SOURCES;DEPS;PRIVATE_DEPS;PRECOMPILE")
  set(target grurun_${room_NAME})
  if(room_SOURCES)
    add_library(${target} STATIC ${room_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:grurun_options> ${room_PRIVATE_DEPS})
    grurun_precompile(${target} ${room_PRECOMPILE})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(grurun::${room_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${room_NAME})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/grurun>)
  target_link_libraries(${target} ${scope} ${room_DEPS})

  if(room_NOT_INSTALLED)
    return()
  endif()
  install(TARGETS ${target} EXPORT grurunTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set_property(GLOBAL APPEND PROPERTY grurun_installed_rooms ${room_NAME})
endfunction()

# Sets `result` to the .cc files of the folders named after it and of those in them.
function(grurun_sources result)
  set(found)
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
    list(APPEND found ${sources})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# Has the build write what a plan needs of every schema from ONNX's registry. Sets `result` to the generated file, and
# `added_result` to the object files of the schemas that grurun adds to it: the program that writes has them, too.
function(grurun_signature_table result added_result)
  set(generated ${PROJECT_BINARY_DIR}/generated/signatures.cc)
  grurun_sources(added opset/schema/added)
  add_library(grurun_added_schemas OBJECT ${added})
  target_include_directories(grurun_added_schemas PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(grurun_added_schemas PRIVATE grurun_options grurun::tensor ONNX::onnx)
  grurun_precompile(grurun_added_schemas ${standard_headers} <fmt/format.h> <onnx/onnx_pb.h> <onnx/defs/schema.h>)
  grurun_sources(sources opset/schema/generate)
  add_executable(grurun_write_signatures ${sources} $<TARGET_OBJECTS:grurun_added_schemas>)
  target_include_directories(grurun_write_signatures PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(grurun_write_signatures PRIVATE grurun_options grurun::tensor ONNX::onnx)
  set_target_properties(grurun_write_signatures PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/generated)
  add_custom_command(OUTPUT ${generated}
    COMMAND grurun_write_signatures > ${generated}
    DEPENDS grurun_write_signatures VERBATIM
    COMMENT "Writing the signatures of the operators")
  set(${result} ${generated} PARENT_SCOPE)
  set(${added_result} $<TARGET_OBJECTS:grurun_added_schemas> PARENT_SCOPE)
endfunction()

# Has the build write the list of system calls that a sandbox allows, for the kernel. Sets `result` to its object file.
function(grurun_call_filter result)
  set(generated ${PROJECT_BINARY_DIR}/generated/call_filter.cc)
  add_executable(grurun_write_call_filter ${PROJECT_SOURCE_DIR}/conformance/generate/write_call_filter.cc)
  target_include_directories(grurun_write_call_filter PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(grurun_write_call_filter PRIVATE grurun_options PkgConfig::seccomp)
  set_target_properties(grurun_write_call_filter PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/generated)
  add_custom_command(OUTPUT ${generated}
    COMMAND grurun_write_call_filter > ${generated}
    DEPENDS grurun_write_call_filter VERBATIM
    COMMENT "Writing the list of system calls of the sandbox")
  # A library of its own: what a room generates waits for all rooms below it, and its precompiled headers with it.
  add_library(grurun_call_filter OBJECT ${generated})
  target_compile_features(grurun_call_filter PRIVATE cxx_std_20)
  target_include_directories(grurun_call_filter PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(grurun_call_filter PRIVATE grurun_options)
  set(${result} $<TARGET_OBJECTS:grurun_call_filter> PARENT_SCOPE)
endfunction()

# Writes the source that gathers the operator tables: every engine/ops/<family>/<stem>.op.cc defines op_rows_<stem>().
# A list made from file names cannot lose a row, as self-registration in a static library would. Sets `result` to the
# generated file, or to nothing while there are no operators.
function(grurun_operator_tables result)
  file(GLOB_RECURSE operators CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/engine/ops/*.op.cc)
  set(${result} "" PARENT_SCOPE)
  if(NOT operators)
    return()
  endif()
  set(declarations "")
  set(calls "")
  set(stems)
  foreach(operator IN LISTS operators)
    get_filename_component(file ${operator} NAME)
    string(REGEX REPLACE "\\.op\\.cc$" "" stem ${file})
    if(stem IN_LIST stems)
      message(FATAL_ERROR "two operator files are named ${file}")
    endif()
    list(APPEND stems ${stem})
    string(APPEND declarations "std::vector<OpRow> op_rows_${stem}();\n")
    string(APPEND calls "  append(op_rows_${stem}());\n")
  endforeach()
  set(generated ${PROJECT_BINARY_DIR}/generated/op_tables.cc)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT [[
#include <iterator>
#include <utility>
#include <vector>

#include "engine/graph/op_registry.h"

namespace grurun::engine {

@declarations@
std::vector<OpRow> all_op_rows() {
  std::vector<OpRow> rows;
  const auto append = [&rows](std::vector<OpRow> more) {
    rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
@calls@  return rows;
}

}  // namespace grurun::engine
]])
  set(${result} ${generated} PARENT_SCOPE)
endfunction()
