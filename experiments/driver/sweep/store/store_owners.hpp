// Which of those who work on a store are alive: each locks the byte of its number in the file
// STORE-owners, and the kernel unlocks it when the process ends, however it ends.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::sweep {

class StoreOwners {
public:
  /// Opens STORE-owners, or makes it. Errors: InputError.
  explicit StoreOwners(const std::string& store);
  ~StoreOwners();
  StoreOwners(const StoreOwners&) = delete;
  StoreOwners& operator=(const StoreOwners&) = delete;

  /// This process is `owner` (from 1 on) until the object ends. Pre: nobody else is.
  void hold(std::int64_t owner);
  /// Whether another object, here or in another process, holds it.
  [[nodiscard]] bool is_alive(std::int64_t owner) const;

  /// Runs `body` while no other process does so.
  template <typename Body> void alone(const Body& body) {
    wait_for_turn();
    body(); // where it throws, the object ends soon, and its locks with it
    end_turn();
  }

private:
  void wait_for_turn();
  void end_turn();
  std::string file_name_;
  int file_ = -1;
};

} // namespace tutti::sweep
