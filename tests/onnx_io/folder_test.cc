#include "onnx_io/folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/places/scratch.h"

namespace grurun::onnx_io {
namespace {

/// "a b/ c@": folders and links are marked.
std::string listed(std::vector<FolderEntry> entries) {
  std::ranges::sort(entries, {}, &FolderEntry::name);
  std::string text;
  for (const FolderEntry& entry : entries)
    text +=
        (text.empty() ? "" : " ") + entry.name + (entry.is_link ? "@" : "") + (entry.is_folder ? "/" : "");
  return text;
}

TEST(Folder, TellsFoldersAndLinksApart) {
  const tests::Scratch scratch;
  scratch.file("a", "");
  scratch.file("b/inner", "");
  std::filesystem::create_directory_symlink("b", scratch.path("c"));
  EXPECT_EQ(listed(entries_of(scratch.folder())), "a b/ c@");
  int failure = 0;
  EXPECT_EQ(listed(entries_of(scratch.path("missing"), &failure)), "");
  EXPECT_EQ(failure, ENOENT);
}

TEST(Folder, WhatIsKnownIsNotLookedAtAgain) {
  const tests::Scratch scratch;
  scratch.file("one/a", "");
  scratch.file("two/a", "");
  {
    KnownFolders folders;
    EXPECT_EQ(listed(folders.look_into(scratch.path("one"))), "a");
    EXPECT_EQ(listed(folders.look_into(scratch.path("three"))), "");
    for (const char* const added : {"one/b", "two/b", "three/b"}) scratch.file(added, "");
    int failure = EIO;
    EXPECT_EQ(listed(entries_of(scratch.path("one"), &failure)), "a");
    EXPECT_EQ(failure, 0);
    EXPECT_EQ(listed(entries_of(scratch.path("two"))), "a b");
    EXPECT_EQ(listed(entries_of(scratch.path("three"))), "b");
    folders.forget(scratch.path("one"));
    EXPECT_EQ(listed(entries_of(scratch.path("one"))), "a b");
  }
  EXPECT_EQ(listed(entries_of(scratch.path("one"))), "a b");
}

}  // namespace
}  // namespace grurun::onnx_io
