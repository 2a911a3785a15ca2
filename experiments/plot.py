#!/usr/bin/env python3
"""Draws the data of a figure anew: plot.py FIGURE.csv [PICTURE.pdf]

Beside each chart that `tutti run` draws stands its data. What is to look otherwise in a paper is
changed here. It needs matplotlib (package python3-matplotlib).
"""
import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def read(file):
    with open(file, newline="") as text:
        header, *rows = csv.reader(text)
    return header, rows


def by(rows, column):
    parts = {}
    for row in rows:
        parts.setdefault(row[column], []).append(row)
    return parts


def numbers(rows, column):
    return [float(row[column]) for row in rows]


def are_numbers(texts):
    try:
        return bool([float(text) for text in texts])
    except ValueError:
        return False


def curves(axes, header, rows):
    for name, points in by(rows, 0).items():
        named = not are_numbers(point[1] for point in points)
        x = [point[1] for point in points] if named else numbers(points, 1)
        axes.plot(x, numbers(points, 2), marker="o", markersize=3, label=name)
        band = [p for p in points if len(p) > 3 and p[3]]
        if band:
            axes.fill_between(numbers(band, 1), numbers(band, 3), numbers(band, 4), alpha=0.2)
    for scale, column in ((axes.set_xscale, 1), (axes.set_yscale, 2)):
        if are_numbers(row[column] for row in rows):
            values = numbers(rows, column)
            if 0 < 100 * min(values) <= max(values):
                scale("log")


def bars(axes, header, rows, stacked):
    places = list(dict.fromkeys(tuple(row[1:-1]) for row in rows))
    series = by(rows, 0)
    bottom = dict.fromkeys(places, 0.0)
    width = 0.8 if stacked else 0.8 / len(series)
    for i, (name, part) in enumerate(series.items()):
        for k, row in enumerate(part):
            place = tuple(row[1:-1])
            x = places.index(place) + (0 if stacked else (i - (len(series) - 1) / 2) * width)
            axes.bar(x, float(row[-1]), width, bottom[place] if stacked else 0, color=f"C{i}",
                     label=name if k == 0 else None)
            bottom[place] += float(row[-1])
    axes.set_xticks(range(len(places)), [" ".join(place) for place in places])


def heat_maps(figure, header, rows):
    panels = by(rows, 0)
    most = max(numbers(rows, 3))
    grid = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (name, cells) in zip(grid, panels.items()):
        nodes = 1 + int(max(numbers(cells, 1) + numbers(cells, 2)))
        image = [[float("nan")] * nodes for _ in range(nodes)]
        for cell in cells:
            image[int(cell[1])][int(cell[2])] = float(cell[3])
        drawn = axes.imshow(image, vmin=0, vmax=most)
        axes.set(title=name, xlabel=header[2], ylabel=header[1])
    figure.colorbar(drawn, ax=grid, label=header[3])


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    header, rows = read(sys.argv[1])
    picture = sys.argv[2] if len(sys.argv) == 3 else sys.argv[1].removesuffix(".csv") + ".pdf"
    figure = plt.figure(figsize=(7, 3.5), layout="constrained")
    if header[0] == "panel":
        heat_maps(figure, header, rows)
    else:
        axes = figure.subplots()
        if header[0] == "part" or header[1] == "group":
            bars(axes, header, rows, header[0] == "part")
        else:
            curves(axes, header, rows)
            axes.set_xlabel(header[1])
        axes.set_ylabel(header[-1] if header[0] == "part" else header[2])
        axes.legend(fontsize="small")
    figure.savefig(picture)


main()
