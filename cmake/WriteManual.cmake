# cmake -D PROGRAM=grurun -D TO=FOLDER -P WriteManual.cmake: the man page and completions, laid out as below share/.
foreach(row "manual:man/man1/grurun.1" "completions bash:bash-completion/completions/grurun"
    "completions zsh:zsh/site-functions/_grurun" "completions fish:fish/vendor_completions.d/grurun.fish")
  string(REGEX MATCH "^(.*):(.*)$" whole "${row}")
  string(REPLACE " " ";" command "${CMAKE_MATCH_1}")
  set(file ${TO}/${CMAKE_MATCH_2})
  get_filename_component(folder ${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${PROGRAM} ${command} OUTPUT_FILE ${file} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "grurun ${CMAKE_MATCH_1} ended with ${code}")
  endif()
endforeach()
