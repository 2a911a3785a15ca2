// Unpacking goes through one buffer and checks the size after each, so that a small file can't
// claim all memory.
#include "sim/files/gzip.hpp"

#include "sim/error.hpp"
#include "sim/files/files.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>

namespace tutti {

namespace {

/// Traces, which repeat themselves, become some tens of times smaller; gzip can go to a thousand.
std::size_t most_unpacked(std::size_t packed) {
  constexpr std::size_t at_least = std::size_t{64} << 20U, cap = std::size_t{1} << 34U;
  return std::min(cap, at_least + 100 * std::min(packed, cap / 100));
}

class Inflater {
public:
  explicit Inflater(std::string& packed) : packed_(packed) {
    constexpr int gzip_only = 16;
    if (inflateInit2(&stream_, gzip_only + MAX_WBITS) != Z_OK)
      throw InputError("its gzip can't be unpacked: out of memory");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  std::string all() {
    std::string content;
    while (offer_input()) {
      stream_.next_out = buffer_.data();
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      const int status = inflate(&stream_, Z_NO_FLUSH);
      content.append(reinterpret_cast<const char*>(buffer_.data()),
                     buffer_.size() - stream_.avail_out);
      if (content.size() > most_unpacked(packed_.size()))
        throw InputError(fmt::format("its gzip unpacks to more than {} MiB, the most that {} bytes "
                                     "may hold",
                                     most_unpacked(packed_.size()) >> 20U, packed_.size()));
      is_inside_ = status != Z_STREAM_END;
      if (status == Z_STREAM_END) {
        inflateReset(&stream_); // another member may follow
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw InputError(fmt::format("its gzip is broken: {}",
                                     stream_.msg == nullptr ? "unknown data" : stream_.msg));
      }
    }
    if (is_inside_) throw InputError("its gzip is truncated");
    return content;
  }

private:
  /// False where everything has been read and unpacked.
  bool offer_input() {
    if (stream_.avail_in > 0 || (is_inside_ && stream_.avail_out == 0 && at_ > 0)) return true;
    if (at_ == packed_.size()) return false;
    const std::size_t size =
        std::min<std::size_t>(packed_.size() - at_, std::numeric_limits<uInt>::max());
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data()) + at_;
    stream_.avail_in = static_cast<uInt>(size);
    at_ += size;
    return true;
  }

  std::string& packed_;
  std::size_t at_ = 0;
  bool is_inside_ = true;
  z_stream stream_ = {};
  std::array<Bytef, 65536> buffer_ = {};
};

} // namespace

std::string gunzipped(std::string content) {
  if (!content.starts_with("\x1f\x8b")) return content;
  return Inflater(content).all();
}

std::string read_input_file(const std::string& path) {
  std::string content = read_file(path);
  try {
    return gunzipped(std::move(content));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

std::string plain_stem(std::string_view path) {
  return std::filesystem::path(unpacked_name(path)).stem().string();
}

} // namespace tutti
