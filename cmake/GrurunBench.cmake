# bench/*.cc becomes build/<preset>/bench/grurun_bench, built on demand: it is no part of the default target.
find_package(benchmark)
grurun_sources(sources bench)
if(benchmark_FOUND AND sources)
  add_executable(grurun_bench EXCLUDE_FROM_ALL ${sources})
  set_target_properties(grurun_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_link_libraries(grurun_bench PRIVATE grurun_options grurun::engine benchmark::benchmark)
endif()
