# Provides the target ONNX::onnx: an installed ONNX of exactly the pinned version where CMake finds one, otherwise the
# library part of ONNX's source distribution, built once and shared by every preset.
#
# GRURUN_DEPS_DIR     where that build lives (default build/deps; the environment variable of that name is honoured)
# GRURUN_ONNX_SDIST   a local onnx-<version>.tar.gz to use instead of asking pip for it

# One release for the library and for the Python package that makes the official test data.
set(requirements ${PROJECT_SOURCE_DIR}/scripts/requirements.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${requirements})
file(STRINGS ${requirements} GRURUN_ONNX_VERSION REGEX "^onnx==")
string(REPLACE "onnx==" "" GRURUN_ONNX_VERSION "${GRURUN_ONNX_VERSION}")
set(GRURUN_ONNX_SHA256 008cb0467b2bbee41448acc7da8b6f4e704624cb0d327a2d5adafc7ce19bc5b8)

if(DEFINED ENV{GRURUN_DEPS_DIR})
  set(GRURUN_DEPS_DIR "$ENV{GRURUN_DEPS_DIR}" CACHE PATH "where dependencies built from source live")
else()
  set(GRURUN_DEPS_DIR "${PROJECT_SOURCE_DIR}/build/deps" CACHE PATH "where dependencies built from source live")
endif()
set(GRURUN_ONNX_SDIST "" CACHE FILEPATH "a local copy of ONNX's source distribution")

# Sets `result` to the path of the verified archive, downloading it through pip where it is not at hand.
function(grurun_onnx_sdist result)
  set(archive ${GRURUN_DEPS_DIR}/onnx-${GRURUN_ONNX_VERSION}.tar.gz)
  if(GRURUN_ONNX_SDIST)
    set(archive ${GRURUN_ONNX_SDIST})
  elseif(NOT EXISTS ${archive})
    find_program(GRURUN_PIP_PYTHON NAMES python3 HINTS ${PROJECT_SOURCE_DIR}/.venv/bin REQUIRED)
    message(STATUS "Downloading the source distribution of ONNX ${GRURUN_ONNX_VERSION} through pip")
    execute_process(
      COMMAND ${GRURUN_PIP_PYTHON} -m pip download --quiet --no-deps --no-binary onnx
        --dest ${GRURUN_DEPS_DIR} onnx==${GRURUN_ONNX_VERSION}
      RESULT_VARIABLE status)
    if(NOT status EQUAL 0 OR NOT EXISTS ${archive})
      message(FATAL_ERROR "ONNX ${GRURUN_ONNX_VERSION} is not installed and pip could not download its sources; "
        "run scripts/setup, or name a local copy with -DGRURUN_ONNX_SDIST=FILE")
    endif()
  endif()
  file(SHA256 ${archive} digest)
  if(NOT digest STREQUAL GRURUN_ONNX_SHA256)
    message(FATAL_ERROR "${archive} has SHA-256 ${digest}, expected ${GRURUN_ONNX_SHA256}; remove it and try again")
  endif()
  set(${result} ${archive} PARENT_SCOPE)
endfunction()

function(grurun_run_or_fail what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status})")
  endif()
endfunction()

# Builds ONNX in a scratch folder and moves the finished package to `prefix`, so that a prefix that exists is whole.
function(grurun_build_onnx prefix)
  file(MAKE_DIRECTORY ${GRURUN_DEPS_DIR})
  file(LOCK ${GRURUN_DEPS_DIR}/onnx.lock GUARD FUNCTION)
  if(EXISTS ${prefix})
    return()
  endif()
  grurun_onnx_sdist(archive)
  set(scratch ${prefix}.scratch)
  file(REMOVE_RECURSE ${scratch})
  file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${scratch}/source)
  message(STATUS "Building ONNX ${GRURUN_ONNX_VERSION} (once, a few minutes)")
  grurun_run_or_fail("configuring ONNX"
    ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR}/cmake/onnx -B ${scratch}/build -G Ninja --log-level=WARNING
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=${scratch}/package
    -DONNX_SOURCE=${scratch}/source/onnx-${GRURUN_ONNX_VERSION})
  include(ProcessorCount)
  ProcessorCount(jobs)
  grurun_run_or_fail("building ONNX" ${CMAKE_COMMAND} --build ${scratch}/build -j ${jobs})
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${scratch}/build OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(RENAME ${scratch}/package ${prefix})
  file(REMOVE_RECURSE ${scratch})
endfunction()

file(SHA256 ${PROJECT_SOURCE_DIR}/cmake/onnx/CMakeLists.txt recipe)
string(SHA256 key "${recipe} ${GRURUN_ONNX_SHA256} ${Protobuf_VERSION} ${CMAKE_SYSTEM_PROCESSOR}")
string(SUBSTRING ${key} 0 12 key)
set(onnx_prefix ${GRURUN_DEPS_DIR}/onnx-${GRURUN_ONNX_VERSION}-${key})

# An earlier configure left our own build in the cache; it must not pass for an installed ONNX.
string(FIND "${ONNX_DIR}" "${GRURUN_DEPS_DIR}/" position)
if(position EQUAL 0)
  unset(ONNX_DIR CACHE)
endif()
find_package(ONNX ${GRURUN_ONNX_VERSION} EXACT CONFIG QUIET)
if(ONNX_FOUND)
  message(STATUS "Found ONNX ${ONNX_VERSION} in ${ONNX_DIR}")
  set(GRURUN_BUNDLES_ONNX OFF)
else()
  if(NOT EXISTS ${onnx_prefix})
    grurun_build_onnx(${onnx_prefix})
  endif()
  find_package(ONNX ${GRURUN_ONNX_VERSION} EXACT CONFIG REQUIRED PATHS ${onnx_prefix} NO_DEFAULT_PATH)
  set(GRURUN_BUNDLES_ONNX ON)
endif()

# Sets `result` to a source with the descriptors of ONNX's messages. Its C++ library is without them (LITE_RUNTIME), but models
# that are text name their fields. They are made from onnx-ml.proto, of the installed ONNX or of its source distribution.
function(grurun_onnx_descriptors result)
  set(generated ${PROJECT_BINARY_DIR}/generated)
  set(definition ${generated}/onnx-${GRURUN_ONNX_VERSION}/onnx/onnx-ml.proto)
  if(NOT EXISTS ${definition})
    get_target_property(includes ONNX::onnx INTERFACE_INCLUDE_DIRECTORIES)
    find_file(installed onnx/onnx-ml.proto PATHS ${includes} NO_DEFAULT_PATH NO_CACHE)
    if(installed)
      file(COPY ${installed} DESTINATION ${generated}/onnx-${GRURUN_ONNX_VERSION}/onnx)
    else()
      grurun_onnx_sdist(archive)
      file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${generated} PATTERNS */onnx/onnx-ml.proto)
    endif()
  endif()
  set(descriptors ${generated}/onnx-ml.descriptors)
  grurun_run_or_fail("reading onnx-ml.proto" ${Protobuf_PROTOC_EXECUTABLE} -I ${generated}/onnx-${GRURUN_ONNX_VERSION}
    --descriptor_set_out ${descriptors} ${definition})
  file(READ ${descriptors} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  set(source ${generated}/onnx_descriptors.cc)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
#include "onnx_io/models/onnx_descriptors.h"

namespace grurun::onnx_io {

std::string_view onnx_descriptors() {
  static constexpr unsigned char bytes[] = {@bytes@};
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

}  // namespace grurun::onnx_io
]])
  set(${result} ${source} PARENT_SCOPE)
endfunction()
