// .npz: a zip archive of .npy files, stored or deflated.
#include <fcntl.h>
#include <zip.h>

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string_view>

#include "onnx_io/values/value_formats.h"
#include "onnx_io/values/zip_target.h"
#include "tensor/error.h"
#include "tensor/memory/memory.h"

namespace grurun::onnx_io {

namespace {

// Deflate cannot do better than 1032 to 1; what claims more lies about its size.
constexpr std::uint64_t best_ratio = 1032;
constexpr zip_int64_t most_members = 1 << 16;

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using Archive = std::unique_ptr<zip_t, Discard>;

std::string error_text(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

Archive open_archive(const std::string& path, std::uint64_t* size) {
  const OpenFile file = open_file(path);
  *size = file.size;
  int code = 0;
  const int fd = ::fcntl(file.descriptor.get(), F_DUPFD_CLOEXEC, 0);
  Archive archive(zip_fdopen(fd, ZIP_CHECKCONS, &code));
  if (archive == nullptr) {
    if (fd >= 0) Descriptor close(fd);
    fail_invalid("no .npz file, or a damaged one ({})", error_text(code));
  }
  return archive;
}

std::uint64_t checked_size(const zip_stat_t& info, std::uint64_t file_size) {
  constexpr zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((info.valid & needed) != needed) fail_invalid("the archive does not say how large the member is");
  if ((info.valid & ZIP_STAT_ENCRYPTION_METHOD) && info.encryption_method != ZIP_EM_NONE) {
    fail_unsupported("an encrypted member");
  }
  if (info.comp_method != ZIP_CM_STORE && info.comp_method != ZIP_CM_DEFLATE) {
    fail_unsupported("compression method {}; members are stored or deflated", info.comp_method);
  }
  const std::uint64_t ratio = info.comp_method == ZIP_CM_STORE ? 1 : best_ratio;
  if (info.comp_size > file_size || info.size / ratio > info.comp_size) {
    fail_invalid("the archive says that {} bytes are packed in {}, which cannot be", info.size,
                 info.comp_size);
  }
  return info.size;
}

Bytes inflate(zip_t* archive, zip_uint64_t index, std::uint64_t size) {
  const std::unique_ptr<zip_file_t, CloseMember> member(zip_fopen_index(archive, index, 0));
  if (member == nullptr) fail_invalid("the member cannot be read ({})", zip_strerror(archive));
  auto block = std::make_shared<memory::Block>(static_cast<std::size_t>(size));
  auto* const to = static_cast<char*>(block->data());
  std::uint64_t done = 0;
  while (done < size) {
    const zip_int64_t got = zip_fread(member.get(), to + done, size - done);
    if (got <= 0) fail_invalid("the member is damaged: {} of {} bytes could be unpacked", done, size);
    done += static_cast<std::uint64_t>(got);
  }
  // The checksum is compared when the end is reached.
  char more = 0;
  if (zip_fread(member.get(), &more, 1) != 0)
    fail_invalid("the member is damaged: its checksum or size is wrong");
  return {reinterpret_cast<const std::byte*>(to), static_cast<std::size_t>(size), block};
}

std::string member_name(const NamedValue& value, std::size_t index) {
  return value.name.empty() ? fmt::format("arr_{}", index) : value.name;
}

}  // namespace

namespace {

/// Calls see(name, index, size) for each member: of a value's name, and size bytes without compression.
void for_each_member(zip_t* archive, std::uint64_t file_size,
                     const std::function<void(const std::string&, zip_uint64_t, std::uint64_t)>& see) {
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  if (count > most_members) fail(ErrorKind::limit, "{} members; up to {} are read", count, most_members);
  std::set<std::string> names;
  std::uint64_t total = 0;
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t info;
    zip_stat_init(&info);
    const auto index = static_cast<zip_uint64_t>(i);
    if (zip_stat_index(archive, index, 0, &info) != 0 || info.name == nullptr) {
      fail_invalid("member {} of the archive cannot be read", i);
    }
    std::string name = info.name;
    with_context([&] { return fmt::format("member '{}'", name); },
                 [&] {
                   if (!name.ends_with(".npy")) fail_invalid("a .npz holds .npy files only");
                   const std::uint64_t size = checked_size(info, file_size);
                   // Members that share their bytes would pass the check of each.
                   total += size;
                   if (total / best_ratio > file_size) fail_invalid("the members overlap");
                   name.resize(name.size() - 4);
                   if (!names.insert(name).second) fail_invalid("the name is there twice");
                   see(name, index, size);
                 });
  }
}

}  // namespace

std::vector<NamedValue> read_npz(const std::string& path) {
  std::uint64_t file_size = 0;
  const Archive archive = open_archive(path, &file_size);
  std::vector<NamedValue> values;
  for_each_member(archive.get(), file_size,
                  [&](const std::string& name, zip_uint64_t index, std::uint64_t size) {
                    values.push_back({name, parse_npy(inflate(archive.get(), index, size))});
                  });
  return values;
}

std::vector<std::string> npz_names(const std::string& path) {
  std::vector<std::string> names;
  with_context([&] { return path; },
               [&] {
                 std::uint64_t file_size = 0;
                 const Archive archive = open_archive(path, &file_size);
                 for_each_member(
                     archive.get(), file_size,
                     [&](const std::string& name, zip_uint64_t, std::uint64_t) { names.push_back(name); });
               });
  return names;
}

Value read_npz_value(const std::string& path, const std::string& name) {
  std::optional<Value> value;
  with_context([&] { return path; },
               [&] {
                 std::uint64_t file_size = 0;
                 const Archive archive = open_archive(path, &file_size);
                 for_each_member(archive.get(), file_size,
                                 [&](const std::string& member, zip_uint64_t index, std::uint64_t size) {
                                   if (member == name) value = parse_npy(inflate(archive.get(), index, size));
                                 });
                 if (!value) fail_usage("there is no value '{}' any more", name);
               });
  return *std::move(value);
}

namespace {

/// The record that ends an archive, of no member. The library removes such a file.
void write_empty_npz(const std::string& path) {
  constexpr std::string_view end("PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
  write_file(path, {end});
}

/// A zip file's names end at a NUL.
void check_member_name(const std::string& name, std::set<std::string>& names) {
  constexpr std::size_t longest = 65535 - 4;  // with .npy, as 16 bits count it
  if (name.size() > longest)
    fail_unsupported("a name of {} bytes; .npz holds up to {}, .json and a folder of .pb more", name.size(),
                     longest);
  if (name.find('\0') != name.npos)
    fail_unsupported("a name with NUL, which .npz cannot hold; write .json or a folder of .pb");
  if (!names.insert(name).second) fail_usage("two values are named '{}'; a .npz needs different names", name);
}

/// Writes an archive of these members, each from what source(archive, i) makes, which is read when all are
/// there.
void write_members(const std::string& path, const std::vector<std::string>& names,
                   const std::function<zip_source_t*(zip_t*, std::size_t)>& source_of) {
  if (names.empty()) return write_empty_npz(path);
  OutputFile file(path);
  ZipTarget target(file);
  zip_source_t* const all = target.source();
  Archive archive(all == nullptr ? nullptr : zip_open_from_source(all, ZIP_CREATE | ZIP_TRUNCATE, nullptr));
  if (archive == nullptr) {
    if (all != nullptr) zip_source_free(all);
    throw std::bad_alloc();
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    zip_source_t* const source = source_of(archive.get(), i);
    const std::string name = names[i] + ".npy";
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(archive.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      const std::string reason = zip_strerror(archive.get());
      if (source != nullptr) zip_source_free(source);
      fail_usage("cannot write '{}' to {}: {}", name, path, reason);
    }
    const auto member = static_cast<zip_uint64_t>(index);
    zip_set_file_compression(archive.get(), member, ZIP_CM_STORE, 0);
    // The same values give the same bytes on every day: midnight of 1980-01-01, the first that zip knows.
    zip_file_set_dostime(archive.get(), member, 0, 0x21, 0);
  }
  if (zip_close(archive.get()) != 0) fail_usage("cannot write {}: {}", path, zip_strerror(archive.get()));
  archive.release();
  file.finish();
}

}  // namespace

void write_npz(const std::string& path, const std::vector<NamedValue>& values) {
  std::vector<NpyFile> files;
  std::set<std::string> names;
  std::vector<std::string> members;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string name = member_name(values[i], i);
    check_member_name(name, names);
    if (!values[i].value.is_tensor()) {
      fail_unsupported("'{}' is {}; a .npz holds tensors only, .pb and .json hold every value", name,
                       values[i].value.describe());
    }
    files.push_back(with_context([&] { return fmt::format("'{}'", name); },
                                 [&] { return npy_content(values[i].value.tensor()); }));
    members.push_back(name);
  }
  write_members(path, members, [&](zip_t* archive, std::size_t i) {
    const std::string_view data = files[i].data();
    // The archive reads the pieces where they lie, when it is closed.
    zip_buffer_fragment_t pieces[2];
    pieces[0] = {reinterpret_cast<zip_uint8_t*>(files[i].header.data()), files[i].header.size()};
    pieces[1] = {reinterpret_cast<zip_uint8_t*>(const_cast<char*>(data.data())), data.size()};
    return zip_source_buffer_fragment(archive, pieces, data.empty() ? 1 : 2, 0);
  });
}

void write_npz_of(const std::string& path, const std::vector<std::pair<std::string, std::string>>& files) {
  std::set<std::string> names;
  std::vector<std::string> members;
  for (const auto& [name, file] : files) {
    check_member_name(name, names);
    members.push_back(name);
  }
  write_members(path, members, [&](zip_t* archive, std::size_t i) {
    return zip_source_file(archive, files[i].second.c_str(), 0, -1);
  });
}

}  // namespace grurun::onnx_io
