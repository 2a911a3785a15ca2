// Several rows, of which each may refuse what it is asked for: an algorithm that can't work on this
// network costs its own row only, and bad input that none can work with is an error.
#pragma once

#include "experiments/driver/pool/process_memory.hpp"
#include "sim/error.hpp"
#include "sim/synthesizer.hpp"

#include <cstddef>
#include <new>
#include <optional>
#include <string>

namespace tutti {

class Refusals {
public:
  /// Of a row that was made elsewhere.
  void accept() { ++accepted_; }
  void refuse(const InputError& error) {
    if (!first_) first_ = error;
  }
  /// body(), or, where that meets bad input or has no more memory, refused(status, note).
  template <typename Body, typename Refused> auto row(const Body& body, const Refused& refused) {
    try {
      auto made = body();
      accept();
      return made;
    } catch (const InputError& error) {
      refuse(error);
      return refused(Status::infeasible, std::string(error.what()));
    } catch (const std::bad_alloc& error) {
      accept(); // the input may be good
      return refused(Status::out_of_memory, memory_text(error));
    }
  }

  /// Errors: the InputError of the first row, where no row accepted its input.
  void require_some() const {
    if (first_ && accepted_ == 0) throw InputError(*first_);
  }

private:
  std::optional<InputError> first_;
  std::size_t accepted_ = 0;
};

} // namespace tutti
