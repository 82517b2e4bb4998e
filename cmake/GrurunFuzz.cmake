# Every fuzz/<name>_fuzz.cc is a libFuzzer program of its own, in build/fuzz/fuzz/.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/*_fuzz.cc)
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  target_link_libraries(${name} PRIVATE grurun_options grurun::report)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
