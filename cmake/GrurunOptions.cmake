# Compiler settings shared by every target: grurun_options is linked privately by each.

option(GRURUN_WERROR "Treat warnings as errors" OFF)
set(GRURUN_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize takes them (address,undefined)")
option(GRURUN_FUZZ "Build the fuzz targets (needs clang)" OFF)
option(GRURUN_COVERAGE "Record line coverage" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT multi_config AND NOT CMAKE_BUILD_TYPE)
  message(STATUS "Build type: Release, as none was given")
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, or what the presets name" FORCE)
endif()

find_program(GRURUN_CCACHE ccache)
if(GRURUN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/with-ccache)
endif()

# grurun_precompile(target header...): headers, written as in #include, that most sources of a target include. Sources include
# what they use all the same: GCC's other build types read them without, as GCC 12 may find fault with the standard library's
# strings (-Warray-bounds) once they are precompiled.
function(grurun_precompile target)
  if(ARGN AND (CMAKE_BUILD_TYPE STREQUAL "Release" OR CMAKE_CXX_COMPILER_ID STREQUAL "Clang"))
    target_precompile_headers(${target} PRIVATE ${ARGN})
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endfunction()

# Contracted multiply-adds would make results depend on the compiler's mood; kernels ask for them by name.
add_library(grurun_options INTERFACE)
# Some pragmas are for GCC, which builds what ships, alone. What GCC 12 says of bounds it may say of the standard library's own
# strings, depending on what else is in the source: that is no error.
target_compile_options(grurun_options INTERFACE -Wall -Wextra -ffp-contract=off
  $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas> $<$<BOOL:${GRURUN_WERROR}>:-Werror>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-error=array-bounds;-Wno-error=restrict;-Wno-error=stringop-overflow;-Wno-error=stringop-overread>)

# Only libraries that are really called cost start-up time.
add_link_options(-Wl,--as-needed)

if(GRURUN_SANITIZE)
  add_compile_options(-fsanitize=${GRURUN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${GRURUN_SANITIZE})
endif()
if(GRURUN_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
