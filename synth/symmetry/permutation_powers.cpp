// All by cycles: a power shifts each cycle, whatever the exponent, and a permutation is semiregular
// if its cycles have one length. The part of prime order is what remains after powers by all other
// primes.

#include "synth/symmetry/permutation_powers.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

namespace tutti {

namespace {

std::vector<std::size_t> cycle_lengths(const Permutation& permutation, std::size_t points) {
  std::vector<std::size_t> lengths;
  std::vector<bool> seen(points);
  for (std::uint32_t first = 0; first < points; ++first) {
    if (seen[first]) continue;
    std::size_t length = 0;
    for (std::uint32_t i = first; !seen[i]; i = permutation[i], ++length) seen[i] = true;
    lengths.push_back(length);
  }
  return lengths;
}

// Per prime the largest power of it that divides some cycle's length.
std::map<std::size_t, std::size_t> prime_powers(const Permutation& permutation,
                                                std::size_t points) {
  std::map<std::size_t, std::size_t> largest;
  for (std::size_t rest : cycle_lengths(permutation, points)) {
    for (std::size_t prime = 2; rest > 1; ++prime) {
      std::size_t dividing = 1;
      for (; rest % prime == 0; rest /= prime) dividing *= prime;
      if (dividing > 1) largest[prime] = std::max(largest[prime], dividing);
    }
  }
  return largest;
}

} // namespace

Permutation power(const Permutation& permutation, std::size_t exponent) {
  Permutation result(permutation.size());
  std::vector<bool> seen(permutation.size());
  std::vector<std::uint32_t> cycle;
  for (std::uint32_t first = 0; first < permutation.size(); ++first) {
    if (seen[first]) continue;
    cycle.clear();
    for (std::uint32_t i = first; !seen[i]; i = permutation[i]) {
      seen[i] = true;
      cycle.push_back(i);
    }
    for (std::size_t k = 0; k < cycle.size(); ++k)
      result[cycle[k]] = cycle[(k + exponent) % cycle.size()];
  }
  return result;
}

std::size_t semiregular_order(const Permutation& permutation, std::size_t points) {
  const std::vector<std::size_t> lengths = cycle_lengths(permutation, points);
  const bool even = std::all_of(lengths.begin(), lengths.end(),
                                [&](std::size_t length) { return length == lengths.front(); });
  return even && lengths.front() > 1 ? lengths.front() : 0;
}

std::vector<Permutation> semiregular_powers(const Permutation& permutation, std::size_t points) {
  std::vector<Permutation> found;
  const auto add = [&](const Permutation& made) {
    if (semiregular_order(made, points) > 0) found.push_back(made);
  };
  add(permutation);
  const std::map<std::size_t, std::size_t> powers = prime_powers(permutation, points);
  for (const auto& [kept, ignored] : powers) {
    Permutation part = permutation;
    for (const auto& [prime, dividing] : powers)
      if (prime != kept) part = power(part, dividing);
    add(part);
  }
  return found;
}

} // namespace tutti
