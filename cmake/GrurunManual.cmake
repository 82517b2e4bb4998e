# The man page and the completions for shells, which the program prints from the tables of its flags, and where
# they are installed.
set(shell_files ${PROJECT_BINARY_DIR}/share)
add_custom_command(TARGET grurun POST_BUILD
  COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:grurun> -D TO=${shell_files} -P ${PROJECT_SOURCE_DIR}/cmake/WriteManual.cmake
  VERBATIM)
install(FILES ${shell_files}/man/man1/grurun.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${shell_files}/bash-completion/completions/grurun DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${shell_files}/zsh/site-functions/_grurun DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
install(FILES ${shell_files}/fish/vendor_completions.d/grurun.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
