# tests/ mirrors the tree: every folder tests/<room>/ becomes one GoogleTest binary of all its sources. ctest runs it as one
# entry, or as several shards where the folder is large, with the room's name as label. A folder whose sources hold no *_test.cc is a library that all the binaries link.
# Every tests/**/test_*.py runs as an entry of its own, under the project's virtual environment where there is one, and
# is skipped where it skips all of its tests. Those of tests/frameworks run in the environment of scripts/with-frameworks.

find_package(GTest REQUIRED)

set(test_environment
  "GRURUN_BINARY=$<TARGET_FILE:grurun>" "GRURUN_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
  "GRURUN_BUILD_DIR=${PROJECT_BINARY_DIR}" "GRURUN_SANITIZE=${GRURUN_SANITIZE}"
  "PYTHONPATH=${PROJECT_BINARY_DIR}/python:${PROJECT_SOURCE_DIR}" "PYTHONDONTWRITEBYTECODE=1"
  "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1:allow_addr2line=1"
  "UBSAN_OPTIONS=print_stacktrace=1:allow_addr2line=1")

file(GLOB test_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/tests/*)
set(shared_libraries)
set(suites)
foreach(folder IN LISTS test_folders)
  if(NOT IS_DIRECTORY ${folder})
    continue()
  endif()
  get_filename_component(name ${folder} NAME)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(tests)
    list(APPEND suites ${name})
    set(sources_${name} ${sources})
    list(LENGTH tests count)
    math(EXPR shards_${name} "(${count} + 4) / 5")
    set(count_${name} ${count})
  elseif(sources)
    add_library(grurun_tests_${name} STATIC ${sources})
    target_link_libraries(grurun_tests_${name} PRIVATE grurun_options PUBLIC grurun::report ONNX::onnx GTest::gtest)
    list(APPEND shared_libraries grurun_tests_${name})
  endif()
endforeach()

set_property(SOURCE ${PROJECT_SOURCE_DIR}/tests/places/in_tree.cc
  PROPERTY COMPILE_DEFINITIONS GRURUN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")

foreach(name IN LISTS suites)
  add_executable(${name}_tests ${sources_${name}})
  set_target_properties(${name}_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  set(room grurun::report)
  if(TARGET grurun::${name})
    set(room grurun::${name})
  endif()
  target_link_libraries(${name}_tests PRIVATE
    grurun_options ${shared_libraries} ${room} ONNX::onnx GTest::gtest GTest::gmock GTest::gtest_main)
  add_dependencies(${name}_tests grurun)
  # Tests are long and run once: optimizing them takes longer than it saves, most of all with the code that sanitizers add.
  target_compile_options(${name}_tests PRIVATE $<$<CONFIG:Release>:-O1> $<$<CONFIG:Sanitize>:-O0>)
  # As long as parsing the headers three or four times, which a few sources do not do.
  if(count_${name} GREATER 30)
    grurun_precompile(${name}_tests ${standard_headers} <fmt/format.h> <gmock/gmock.h> <gtest/gtest.h> <onnx/onnx_pb.h>)
  endif()
  foreach(shard RANGE 1 ${shards_${name}})
    set(entry ${name})
    if(shards_${name} GREATER 1)
      set(entry ${name}/${shard}-of-${shards_${name}})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${entry} COMMAND ${name}_tests --gtest_brief=1 WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
    set_tests_properties(${entry} PROPERTIES LABELS ${name}
      ENVIRONMENT "${test_environment};GTEST_TOTAL_SHARDS=${shards_${name}};GTEST_SHARD_INDEX=${index}")
  endforeach()
endforeach()

# ThreadSanitizer looks at the engine's tests that use several threads: races_tests, which is quicker to build than all of them.
if(GRURUN_SANITIZE MATCHES thread)
  set(races ${sources_engine})
  list(FILTER races EXCLUDE REGEX "_test\\.cc$")
  foreach(source IN LISTS sources_engine)
    file(STRINGS ${source} uses REGEX "set_threads\\(|std::j?thread" LIMIT_COUNT 1)
    # ThreadSanitizer does not support threads in a child of a threaded process.
    file(STRINGS ${source} forks REGEX "in_child\\(" LIMIT_COUNT 1)
    if(uses AND NOT forks)
      list(APPEND races ${source})
    endif()
  endforeach()
  add_executable(races_tests EXCLUDE_FROM_ALL ${races})
  set_target_properties(races_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(races_tests PRIVATE
    grurun_options ${shared_libraries} grurun::engine ONNX::onnx GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME races COMMAND races_tests --gtest_brief=1 WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(races PROPERTIES LABELS races ENVIRONMENT "${test_environment}")
endif()

find_program(GRURUN_TEST_PYTHON NAMES python3 HINTS ${PROJECT_SOURCE_DIR}/.venv/bin REQUIRED)
file(GLOB_RECURSE python_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/test_*.py)
foreach(file IN LISTS python_tests)
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/tests ${file})
  string(REGEX REPLACE "\\.py$" "" name ${name})
  get_filename_component(label ${name} DIRECTORY)
  set(python ${GRURUN_TEST_PYTHON})
  if(name MATCHES "^frameworks/")
    if(NOT TARGET grurun_python)
      continue()
    endif()
    set(python ${PROJECT_SOURCE_DIR}/scripts/with-frameworks)
  endif()
  add_test(NAME ${name} COMMAND ${python} ${PROJECT_SOURCE_DIR}/tests/run_unittest.py ${file}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "python;${label}" SKIP_RETURN_CODE 77 ENVIRONMENT "${test_environment}")
  if(name MATCHES "^frameworks/")  # while one installs the packages, others are not to wait for it
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK frameworks)
  endif()
endforeach()
