// IEEE Std 1003.1, `pax`, "ustar Interchange Format": headers and contents in blocks of 512 bytes,
// numbers as octal text, two blocks of zeros at the end.
#include "runtime/pack/tar.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

namespace tutti::runtime {

namespace {

constexpr std::size_t tar_block = 512;

/// Where a field is in a header.
struct HeaderField {
  std::size_t at, size;
};
constexpr HeaderField name_at{0, 100}, mode_at{100, 8}, owner_at{108, 8}, group_at{116, 8},
    size_at{124, 12}, time_at{136, 12}, sum_at{148, 8}, type_at{156, 1}, magic_at{257, 8},
    prefix_at{345, 155};
constexpr std::string_view ustar_magic("ustar\00000", 8), gnu_magic("ustar  \0", 8);

constexpr std::size_t whole_blocks(std::size_t bytes) {
  return (bytes + tar_block - 1) / tar_block * tar_block;
}

void put_field(std::string& header, HeaderField place, std::string_view text) {
  std::ranges::copy(text, header.begin() + static_cast<std::ptrdiff_t>(place.at));
}

/// Octal digits that fill the field but for its last byte.
std::string octal_text(std::uint64_t value, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t i = digits; i-- > 0; value /= 8) text[i] = static_cast<char>('0' + value % 8);
  return text;
}

/// The checksum of a header, with spaces in the checksum's own field.
std::uint64_t sum_of(std::string_view header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < tar_block; ++i)
    sum += i >= sum_at.at && i < sum_at.at + sum_at.size ? std::uint64_t{' '}
                                                         : static_cast<unsigned char>(header[i]);
  return sum;
}

/// The path as ustar's prefix and name.
void put_path(std::string& header, const std::string& path) {
  if (path.size() <= name_at.size) return put_field(header, name_at, path);
  const std::size_t cut = path.find('/', path.size() - name_at.size - 1);
  if (cut == std::string::npos || cut > prefix_at.size)
    throw InputError(path + ": too long a path for a tar");
  put_field(header, prefix_at, std::string_view(path).substr(0, cut));
  put_field(header, name_at, std::string_view(path).substr(cut + 1));
}

std::string header_of(const TarFile& file) {
  constexpr std::size_t size_digits = 11;
  if (file.bytes.size() >> (3 * size_digits) != 0)
    throw InputError(file.path + ": too long for a tar");
  std::string header(tar_block, '\0');
  put_path(header, file.path);
  put_field(header, mode_at, "0000644");
  put_field(header, owner_at, "0000000");
  put_field(header, group_at, "0000000");
  put_field(header, size_at, octal_text(file.bytes.size(), size_digits));
  put_field(header, time_at, octal_text(0, 11));
  put_field(header, type_at, "0");
  put_field(header, magic_at, ustar_magic);
  put_field(header, sum_at, octal_text(sum_of(header), 6) + '\0' + ' ');
  return header;
}

/// Up to the first zero byte.
std::string_view text_at(std::string_view header, HeaderField place) {
  const std::string_view field = header.substr(place.at, place.size);
  return field.substr(0, field.find('\0'));
}

/// Octal digits, spaces around them; nothing where there are others.
std::optional<std::uint64_t> number_at(std::string_view header, HeaderField place) {
  std::string_view text = text_at(header, place);
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '7') return std::nullopt;
    value = value * 8 + static_cast<std::uint64_t>(c - '0');
  }
  return text.empty() ? std::nullopt : std::optional(value);
}

class TarReader {
public:
  TarReader(std::string_view tar, const std::string& file) : tar_(tar), file_(file) {}

  std::vector<TarFile> read() {
    std::vector<TarFile> files;
    while (const auto header = next_header()) {
      const std::size_t size = size_of(*header);
      const char type = (*header)[type_at.at];
      std::string path = path_of(*header);
      const std::string_view bytes = take(size);
      if (type == '5') continue;
      if (type != '0' && type != '\0')
        fail("\"" + path + "\" is no regular file, or needs extensions of tar: make the archive " +
             "with tar --format=ustar");
      if (!paths_.insert(path).second) fail("\"" + path + "\" is there twice");
      files.push_back({std::move(path), std::string(bytes)});
    }
    return files;
  }

private:
  [[noreturn]] void fail(const std::string& why) const {
    throw InputError(file_ + ": at byte " + std::to_string(header_) + ": " + why);
  }

  /// Nothing at the end, which is two blocks of zeros.
  std::optional<std::string_view> next_header() {
    header_ = at_;
    std::string_view header = next_block();
    if (header.find_first_not_of('\0') == std::string_view::npos) {
      header = next_block();
      if (header.find_first_not_of('\0') == std::string_view::npos) return std::nullopt;
      fail("a header behind an end");
    }
    const std::string_view found = header.substr(magic_at.at, magic_at.size);
    if (found != ustar_magic && found != gnu_magic) fail("no header of a tar (ustar)");
    if (number_at(header, sum_at) != sum_of(header)) fail("a damaged header");
    return header;
  }

  std::string_view next_block() {
    if (tar_.size() - at_ < tar_block) fail("the archive was cut off");
    at_ += tar_block;
    return tar_.substr(at_ - tar_block, tar_block);
  }

  std::size_t size_of(std::string_view header) const {
    const auto size = number_at(header, size_at);
    if (!size) fail("a size that isn't octal digits");
    return *size;
  }

  static std::string path_of(std::string_view header) {
    const std::string_view prefix = text_at(header, prefix_at);
    std::string path;
    // GNU's headers have times there.
    if (!prefix.empty() && header.substr(magic_at.at, magic_at.size) == ustar_magic)
      path = std::string(prefix) + "/";
    path += text_at(header, name_at);
    return path.starts_with("./") ? path.substr(2) : path;
  }

  std::string_view take(std::size_t size) {
    const std::size_t left = tar_.size() - at_;
    if (size > left || whole_blocks(size) > left) fail("the archive was cut off");
    const std::string_view bytes = tar_.substr(at_, size);
    at_ += whole_blocks(size);
    return bytes;
  }

  std::string_view tar_;
  const std::string& file_;
  std::size_t at_ = 0, header_ = 0;
  std::set<std::string> paths_;
};

} // namespace

std::string tar_of(std::span<const TarFile> files) {
  std::string tar;
  for (const TarFile& file : files) {
    tar += header_of(file) + file.bytes;
    tar.resize(whole_blocks(tar.size()), '\0');
  }
  return tar.append(2 * tar_block, '\0');
}

std::vector<TarFile> read_tar(std::string_view tar, const std::string& file_name) {
  return TarReader(tar, file_name).read();
}

} // namespace tutti::runtime
