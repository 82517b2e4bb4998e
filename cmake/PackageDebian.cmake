# What Debian's policy asks of files that CPack has staged: a copyright file, a compressed changelog and man page, completions where
# Debian's shells look for them.
set(share ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
if(NOT EXISTS ${share})  # in a folder of the component's name
  file(GLOB share ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share)
endif()
set(doc ${share}/doc/grurun)
string(TIMESTAMP year "%Y" UTC)
file(WRITE ${doc}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: grurun

Files: *
Copyright: ${year} the authors of grurun; of the library of ONNX in it, ONNX Project Contributors
License: Apache-2.0
 On Debian systems the text of the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.
")
file(REMOVE ${doc}/LICENSE ${doc}/LICENSE.onnx)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog "grurun (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * The changes are listed in CHANGELOG.md of the sources.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
execute_process(COMMAND gzip -9n ${doc}/changelog ${share}/man/man1/grurun.1 COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)
