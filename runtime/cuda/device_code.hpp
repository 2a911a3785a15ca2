// Marks what nvcc compiles for the device and, where it can run there too, the host's compiler for
// tests without a GPU. The one macro: there is no other way to say it in both languages.
#pragma once

#ifdef __CUDACC__
#define TUTTI_DEVICE __device__
#else
#define TUTTI_DEVICE
#endif
