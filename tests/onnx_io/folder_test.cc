#include "onnx_io/folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "onnx_io/remove_folder.h"
#include "tensor/error.h"
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

TEST(Folder, OfALargerOneNothingIsRead) {
  const tests::Scratch scratch;
  for (const char* const name : {"many/a", "many/b", "many/c"}) scratch.file(name, "");
  int failure = EIO;
  EXPECT_EQ(entries_of(scratch.path("many"), &failure, 3).size(), 3u);
  EXPECT_EQ(failure, 0);
  EXPECT_TRUE(entries_of(scratch.path("many"), &failure, 2).empty());
  EXPECT_EQ(listing_failure(failure), "the folder holds more than 200000 entries");
  EXPECT_THROW(entries_of(scratch.path("many"), nullptr, 2), Error);
}

TEST(RemoveFolder, TakesWhatIsInItAndNotWhatLinksLeadTo) {
  const tests::Scratch scratch;
  scratch.file("kept/file", "");
  for (const char* const name : {"gone/a", "gone/b/c/d", "gone/b/e"}) scratch.file(name, "");
  std::filesystem::create_directory_symlink(scratch.path("kept"), scratch.path("gone/link"));
  std::filesystem::create_symlink("nowhere", scratch.path("gone/b/dangling"));
  EXPECT_TRUE(remove_folder(scratch.path("gone")));
  EXPECT_FALSE(std::filesystem::exists(scratch.path("gone")));
  EXPECT_TRUE(std::filesystem::exists(scratch.path("kept/file")));
  EXPECT_TRUE(remove_folder(scratch.path("gone")));  // there is nothing to do
}

TEST(RemoveFolder, EndsAtTheDeadline) {
  const tests::Scratch scratch;
  scratch.file("gone/a", "");
  EXPECT_FALSE(remove_folder(scratch.path("gone"), std::chrono::steady_clock::now()));
  EXPECT_TRUE(std::filesystem::exists(scratch.path("gone/a")));
}

}  // namespace
}  // namespace grurun::onnx_io
