/* A shared object for shared_object_test.cpp: an All-Gather around a ring, or what its setting "mode"
   says instead. */
#include "experiments/driver/outside/tutti_algorithm.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

uint32_t tutti_chunk_multiple(uint32_t version, const struct tutti_question* asked) {
  return version == TUTTI_ALGORITHM_VERSION && asked->ranks > 0 ? 2 : 0;
}

static uint32_t link_between(const struct tutti_question* asked, uint32_t from, uint32_t to) {
  for (uint32_t l = 0; l < asked->links; ++l)
    if (asked->link[l].from == from && asked->link[l].to == to) return l;
  return UINT32_MAX;
}

const char* tutti_algorithm(uint32_t version, const struct tutti_question* asked,
                            struct tutti_answer* answer) {
  const char* mode = asked->settings > 0 ? asked->setting[0] + strlen("mode=") : "ranks";
  if (version != TUTTI_ALGORITHM_VERSION) return "another version";
  if (strcmp(mode, "crash") == 0) raise(SIGSEGV);
  if (strcmp(mode, "exit") == 0) _Exit(5);
  if (strcmp(mode, "refuse") == 0) return "not today";
  if (strcmp(mode, "nothing") == 0) return 0;
  while (strcmp(mode, "endless") == 0) {
  }
  if (strcmp(mode, "rank") == 0) answer->send(answer->self, 400, 0, 0, 0);
  if (strcmp(mode, "forward") == 0) {
    answer->send(answer->self, 0, 1, 0, 0);
    answer->wait_for(answer->self, 7);
  }
  const uint32_t shift = strcmp(mode, "link") == 0 ? 2 : 1; /* two away there is no link */
  const int by_links = strcmp(mode, "links") == 0 || shift == 2;
  uint32_t sent = 0;
  for (uint32_t step = 0; step + 1 < asked->ranks; ++step)
    for (uint32_t rank = 0; rank < asked->ranks; ++rank)
      for (uint32_t k = 0; k < asked->chunks_per_shard; ++k, ++sent) {
        const uint32_t to = (rank + shift) % asked->ranks;
        const uint32_t of = (rank + asked->ranks - step) % asked->ranks;
        const uint32_t block = of * asked->chunks_per_shard + k;
        const uint32_t link =
            link_between(asked, asked->node_of_rank[rank], asked->node_of_rank[to]);
        if (by_links)
          answer->cross(answer->self, &link, 1, block, 0);
        else
          answer->send(answer->self, rank, to, block, 0);
        if (sent == 1 && strcmp(mode, "waits") == 0) answer->wait_for(answer->self, 0);
      }
  return 0;
}
