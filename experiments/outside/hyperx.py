#!/usr/bin/env python3
#tutti: toml
"""HyperX (Ahn et al., SC 2009) with an NPU at each point of the grid: along every dimension, all
are linked with all. `tutti show -t ./hyperx.py:4x4x2,bandwidth=100GB/s+50GB/s+50GB/s`: one value
for all links, or one for each dimension.
"""

import itertools
import math
import sys


def per_dimension(key, text, dimensions):
    values = text.split("+")
    if len(values) == 1:
        values *= dimensions
    if len(values) != dimensions:
        sys.exit(f"{key}: {len(values)} values for {dimensions} dimensions")
    return values


def main():
    known = {"bandwidth": "50GB/s", "latency": "0.5us"}
    if len(sys.argv) < 2 or "=" in sys.argv[1]:
        sys.exit("needs the extents of its dimensions: 8x8x8")
    try:
        shape = [int(extent) for extent in sys.argv[1].split("x")]
    except ValueError:
        sys.exit(f"{sys.argv[1]} are no whole numbers with x between them")
    for argument in sys.argv[2:]:
        key, _, value = argument.partition("=")
        if key not in known:
            sys.exit(f"unknown key {key} (known: {', '.join(known)})")
        known[key] = value
    values = {key: per_dimension(key, text, len(shape)) for key, text in known.items()}

    print(f"npus = {math.prod(shape)}\nshape = {shape}")
    strides = [math.prod(shape[:d]) for d in range(len(shape))]
    points = list(itertools.product(*(range(extent) for extent in shape)))
    for d, extent in enumerate(shape):
        pairs = []
        for point in points:
            npu = sum(x * stride for x, stride in zip(point, strides))
            pairs += [[npu, npu + i * strides[d]] for i in range(1, extent - point[d])]
        if pairs:
            print(f"[[links]]\ndimension = {d}\nbetween = {pairs}")
            for key in known:
                print(f'{key} = "{values[key][d]}"')


main()
