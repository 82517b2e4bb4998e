# The Python package: grurun._core from python/bindings, beside the sources of python/grurun. `pip install .` comes here through
# pyproject.toml; other builds make the same package in <build>/python for the tests, where nanobind is at hand.
set(GRURUN_PYTHON_PACKAGE AUTO CACHE STRING "Build the Python package: ON, OFF, or AUTO where nanobind is installed")
# For another processor it is made for a wheel alone: scripts/build-wheel --arm64, which knows that processor's Python.
if(NOT GRURUN_PYTHON_PACKAGE OR GRURUN_SANITIZE OR (CMAKE_CROSSCOMPILING AND NOT SKBUILD))
  return()
endif()

if(NOT SKBUILD AND NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
set(needed REQUIRED)
if(GRURUN_PYTHON_PACKAGE STREQUAL "AUTO")
  set(needed)
endif()
find_package(Python 3.10 ${needed} COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
if(Python_FOUND)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_package(nanobind CONFIG ${needed} PATHS "${nanobind_ROOT}" NO_DEFAULT_PATH)
endif()
if(NOT Python_FOUND OR NOT nanobind_FOUND)
  message(STATUS "No Python package: ${PROJECT_SOURCE_DIR}/.venv has no nanobind; scripts/setup installs it")
  return()
endif()

grurun_sources(sources python/bindings)
nanobind_add_module(grurun_python STABLE_ABI NB_STATIC NOMINSIZE NB_SUPPRESS_WARNINGS ${sources})
set(options grurun_options)
if(GRURUN_USE_BUILD)
  set(options grurun::grurun_options)
endif()
target_link_libraries(grurun_python PRIVATE ${options} grurun::cli)
target_compile_options(grurun_python PRIVATE -Wno-shadow)
set(package ${PROJECT_BINARY_DIR}/python/grurun)
set_target_properties(grurun_python PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${package} UNITY_BUILD OFF)
target_link_options(grurun_python PRIVATE -Wl,--exclude-libs,ALL)

# The sources of the package beside the module, as links: what is edited is what runs.
file(GLOB_RECURSE python_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/grurun
  ${PROJECT_SOURCE_DIR}/python/grurun/*.py ${PROJECT_SOURCE_DIR}/python/grurun/*.pyi ${PROJECT_SOURCE_DIR}/python/grurun/py.typed)
foreach(source IN LISTS python_sources)
  get_filename_component(folder ${package}/${source} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/grurun/${source} ${package}/${source} SYMBOLIC)
endforeach()

if(SKBUILD)
  install(TARGETS grurun_python LIBRARY DESTINATION grurun COMPONENT python)
endif()
