"""Studies: experiments, frontiers, training, failures, jobs, comparisons, sweeps.

Each is the TOML table of its kind with the same keys (docs/formats/), which the command `tutti` that
belongs to this package runs in a process of its own, with the processes of its cases: nothing of
Python's is forked, a crash costs a row and no notebook, and a kind that Tutti learns is known here."""

from __future__ import annotations

import concurrent.futures
import contextlib
import itertools
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import tempfile
import threading
import tomllib
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Union

from . import _tutti
from .errors import InputError, Interrupted
from .rows import Rows
from .toml import dumps
from .work import Progress, listener

if TYPE_CHECKING:
    import pandas

Network = Union[str, _tutti.Topology]
Place = Union[str, "os.PathLike[str]"]


def command() -> str:
    """The program `tutti` of this package: what TUTTI_COMMAND names, that of the wheel, or that of the
    build folder. Errors: InputError with where it was looked for."""
    here = pathlib.Path(_tutti.__file__).resolve().parent
    places = [pathlib.Path(os.environ["TUTTI_COMMAND"])] if "TUTTI_COMMAND" in os.environ else [
        here / "bin" / "tutti", here.parent.parent / "tutti"]
    for place in places:
        if place.is_file() and os.access(place, os.X_OK):
            return str(place)
    raise InputError(f"there is no command tutti: neither {' nor '.join(map(str, places))}")


class Picture(str):
    """SVG, which notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)


class Results:
    """What came of a study: `rows`, `verdicts` and `figures`.

    `rows` has a dictionary for each row of results.csv (docs/columns.md), with `details`; `verdicts`
    one for each expectation; `figures` maps a picture's name to its SVG; `problems` has what the
    command said, in words, where an expectation failed or something is a defect (`ok` is False
    then). All files are in `folder` (docs/formats/results.md), which lives as long as this object
    unless it was named."""

    def __init__(self, answer: Mapping[str, Any], folder: Optional[pathlib.Path] = None,
                 problems: Sequence[str] = (), keep: object = None):
        self.rows = Rows(answer.get("runs", ()))
        self.verdicts: list[dict[str, Any]] = list(answer.get("verdicts", ()))
        self.studies: list[dict[str, Any]] = list(answer.get("studies", ()))
        self.versions: dict[str, str] = dict(answer.get("versions", {}))
        self.name = str(answer.get("experiment", answer.get("command", "")))
        self.problems = list(problems)
        self.folder = folder
        self.figures = {} if folder is None else {
            file.stem: Picture(file.read_text("utf-8")) for file in sorted(folder.glob("*.svg"))}
        self._keep = keep

    @property
    def ok(self) -> bool:
        return not self.problems

    def to_pandas(self, kind: Optional[str] = None) -> pandas.DataFrame:
        """The rows of a kind ("runs", "training", ...), by default of the only one there is, or all.

        Units are in `attrs["units"]`, verdicts in `attrs["verdicts"]`."""
        rows = Rows(row for row in self.rows if kind is None or row.get("kind") == kind)
        made = rows.to_pandas().dropna(axis="columns", how="all")
        made.attrs["verdicts"] = self.verdicts
        return made

    def _repr_html_(self) -> str:
        return self.rows._repr_html_()

    def __repr__(self) -> str:
        return f"<tutti.Results {self.name}: {len(self.rows)} rows, {len(self.figures)} figures>"


# Lines of --progress, which have no mark of their own: a count, a stage without one, what came of a case.
_PROGRESS = re.compile(
    r"tutti: (?:.*: )?(?:.*\b\d+/\d+(?: deliveries)?, \d+ %(?:, .*)?|its workload|begins|[\d.]+ \w+ per iteration|"
    r"(?:synthesis (?:by|of)|verification|replays?(?:, to| at| under| on| of)|iteration (?:with|at)|prediction by|"
    r"execution of|profile of)\b[^:]*|.* rounds per chunk, .* s|[\w-]+ (?:complete|incomplete, .*) at .*)")


def _said(text: str, folder: str) -> list[str]:
    lines = [line for line in text.splitlines() if not _PROGRESS.fullmatch(line)]
    return [line.removeprefix("tutti: ").replace(folder + "/", "") for line in lines if line]


def call(arguments: Sequence[str], progress: Progress = None, folder: str = "\n") -> tuple[Any, list[str]]:
    """The answer of a command in JSON, and what it said. Errors: InputError, Interrupted."""
    heard = listener(progress)
    environment = {k: v for k, v in os.environ.items() if k not in ("TUTTI_SCRIPT", "TUTTI_BUILDS")}
    package = str(pathlib.Path(__file__).parent.parent)  # for `-a FILE.py:NAME`
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen([command(), *arguments, "--json", *(["--progress"] if heard else [])],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, start_new_session=True, env=environment)
    said: list[str] = []

    def listen() -> None:
        for line in process.stderr or ():
            said.append(line)

    ear = threading.Thread(target=listen, daemon=True)
    ear.start()
    output: list[str] = []
    mouth = threading.Thread(target=lambda: output.append(process.stdout.read() if process.stdout else ""),
                             daemon=True)
    mouth.start()
    told, interrupts = 0, 0
    while True:
        try:
            mouth.join(0.05)
            while heard and told < len(said):
                heard(said[told].strip(), 0, 0)
                told += 1
            if mouth.is_alive():
                continue
            process.wait()
            break
        except BaseException as error:  # the command ends as it does for Ctrl-C, or at once
            interrupts += 1
            process.send_signal(signal.SIGINT if interrupts == 1 else signal.SIGKILL)
            if not isinstance(error, KeyboardInterrupt):
                process.kill()
                process.wait()
                raise
    ear.join()
    words = _said("".join(said), folder)
    code = process.returncode
    if code == 2:
        raise InputError("\n".join(words))
    answer = json.loads(output[0]) if output and output[0].startswith("{") else None
    if interrupts or code == 130:
        raise Interrupted(answer and Results(answer))
    if code not in (0, 1) or answer is None:
        raise RuntimeError(f"tutti ended with {code}: " + "\n".join(words))
    return answer, words if code == 1 else []


class Experiment:
    """An experiment: what a TOML file says (docs/formats/experiment.md), so that what a notebook tried
    is a file that `tutti run` repeats.

    `topologies` maps labels to texts or Topology objects; further keywords are the file's tables with
    its keys: `runs=[{"collectives": ["all_reduce"], ...}]`, `figures=[...]`, `expect=[...]`."""

    def __init__(self, name: str, *, topologies: Mapping[str, Network], title: Optional[str] = None,
                 seed: int = 1, **tables: Any):
        self.content: dict[str, Any] = {"name": name, "title": title or name, "seed": seed, **tables,
                                        "topologies": dict(topologies)}
        self.folder: Optional[pathlib.Path] = None

    @classmethod
    def from_toml(cls, source: Place) -> Experiment:
        """From a file, or from TOML itself (a text of several lines). Errors: InputError."""
        text, folder = str(source), None
        try:
            if "\n" not in text:
                folder = pathlib.Path(text).resolve().parent
                text = pathlib.Path(text).read_text("utf-8")
            content = tomllib.loads(text)
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"{source if folder else 'experiment'}: {error}") from None
        made = cls("", topologies={})
        made.content = content
        content.setdefault("topologies", {})
        made.folder = folder
        return made

    def to_toml(self) -> str:
        """The file. Errors: InputError for a network that has no text: `save` writes it beside."""
        return self._toml(None)

    def save(self, file: Place) -> None:
        """Writes the file, and beside it, as STEM_LABEL.toml, those of networks that have no text."""
        path = pathlib.Path(file)
        path.write_text(self._toml(path.parent, path.stem), "utf-8")

    def _toml(self, folder: Optional[pathlib.Path], stem: str = "", named: str = ".") -> str:
        """The file, with networks that have no text in `folder`, which it calls `named`: an own file each."""
        topologies = {}
        for label, network in self.content["topologies"].items():
            if not isinstance(network, _tutti.Topology):
                topologies[label] = network
                continue
            topologies[label] = text = network.text
            if text is None and folder is None:
                raise InputError(f"network {label!r} has no text; save() writes it beside the experiment")
            if text is None and folder is not None:
                base = f"{stem}_" + "".join(c if c.isalnum() else "_" for c in label)
                content = network.to_toml()
                tried = (folder / f"{base}{end}.toml" for end in itertools.chain([""], map("_{}".format, itertools.count(2))))
                path = next(p for p in tried if not p.exists() or p.read_bytes() == content.encode())
                path.write_text(content, "utf-8")
                topologies[label] = f"{named}/{path.name}"
        return dumps({**self.content, "topologies": topologies})

    def run(self, **options: Any) -> Results:
        """As `tutti.run(experiment, ...)`."""
        return run(self, **options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Experiment) and self.content == other.content

    def __repr__(self) -> str:
        return f"<tutti.Experiment {self.content.get('name')}: {', '.join(self.content)}>"


@contextlib.contextmanager
def _file_of(experiment: Experiment) -> Iterator[tuple[pathlib.Path, str]]:
    """The experiment as a file, where what it names is found."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tutti-")))
        file = folder / "experiment.toml"
        if experiment.folder is not None:  # beside the files that it names
            handle, path = tempfile.mkstemp(prefix=".tutti-", suffix=".toml", dir=experiment.folder)
            os.close(handle)
            file = pathlib.Path(path)
            stack.callback(lambda: file.unlink(missing_ok=True))
        file.write_text(experiment._toml(folder, "network", str(folder)), "utf-8")
        yield file, str(file.parent)


def _options(options: Mapping[str, Any]) -> list[str]:
    """`jobs=2, only=["a=b"]` as `--jobs 2 --only a=b`."""
    words = []
    for key, value in options.items():
        flag = "--" + key.replace("_", "-")
        if isinstance(value, Mapping):
            value = [f"{k}={v}" for k, v in value.items()]
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(flag)
            elif one is not None and one is not False:
                words += [flag, f"{one}B" if key == "size" and isinstance(one, int) else str(one)]
    return words


def run(experiment: Union[Experiment, Place], *, out: Optional[Place] = None, progress: Progress = None,
        **options: Any) -> Results:
    """Runs an experiment: an Experiment, a file, or a name that `tutti list experiments` shows.

    `out` is the folder of results, by default one that goes with them. Further keywords are options
    of `tutti run`: `jobs`, `size`, `algorithm`, `set`, `pictures`. Errors: InputError with the place;
    Interrupted with the Results so far."""
    keep = None
    if out is None:
        keep = tempfile.TemporaryDirectory(prefix="tutti-")
    folder = pathlib.Path(keep.name if keep else str(out))
    words = ["--out", str(folder), *_options(options)]
    if isinstance(experiment, Experiment):
        with _file_of(experiment) as (file, place):
            answer, problems = call(["run", str(file), *words], progress, place)
    else:
        answer, problems = call(["run", str(experiment), *words], progress)
    return Results(answer, folder, problems, keep)


def _study(kind: str, network: Network, keys: Mapping[str, Any]) -> Results:
    outside = {k: keys[k] for k in ("out", "jobs", "progress", "pictures") if k in keys}
    table = {k: v for k, v in keys.items() if k not in outside and k not in ("seed", "name")}
    tables: dict[str, Any] = {kind: [table]}
    experiment = Experiment(str(keys.get("name", kind)), topologies={"network": network},
                            seed=int(keys.get("seed", 1)), **tables)
    return experiment.run(**outside)


def frontier(topology: Network, collective: str, **keys: Any) -> Results:
    """The Pareto frontier between steps and rounds (Cai et al. 2021, SCCL). Keys: docs/formats/frontiers.md."""
    return _study("frontiers", topology, {"collective": collective, **keys})


def train(topology: Network, **keys: Any) -> Results:
    """Iterations of training: `train(topology, model="gpt3_small", npu="a100", parallel={"tensor": 4},
    algorithms=["ring"])`. Keys: docs/formats/training.md."""
    return _study("training", topology, keys)


def failures(topology: Network, collective: str, **keys: Any) -> Results:
    """A collective through failures, and what each policy makes of it. Keys: docs/formats/failures.md."""
    return _study("failures", topology, {"collective": collective, **keys})


def jobs(topology: Network, jobs: Sequence[Mapping[str, Any]], **keys: Any) -> Results:
    """Several jobs on one network and what each costs the others: `jobs(topology, [{"name": "A",
    "collective": "all_reduce,group=0-7", "size": "64MiB"}, ...], algorithms=["ring"])`. Each has the
    keys of `[[job]]`; further keys: docs/formats/jobs.md."""
    return _study("jobs", topology, {"job": list(jobs), **keys})


def compare(logs: Union[Place, Sequence[Place]], topology: Network, *, progress: Progress = None,
            **options: Any) -> Results:
    """What a machine has measured (files of nccl-tests, of NCCL's Inspector, or tables) beside what is
    predicted. Further keywords are options of `tutti compare`: `collective`, `algorithm`,
    `transport`, `only={"hardware": "H100"}`."""
    files = [logs] if isinstance(logs, (str, os.PathLike)) else list(logs)
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        text: Optional[str] = topology if isinstance(topology, str) else topology.text
        if text is None:
            text = folder + "/network.toml"
            pathlib.Path(text).write_text(topology.to_toml(), "utf-8")  # type: ignore[union-attr]
        drawn = pathlib.Path(folder) / "pictures"
        drawn.mkdir()
        picture = ["--draw", str(drawn / "compare.svg")]
        answer, problems = call(["compare", *map(str, files), "-t", text, *picture, *_options(options)],
                                progress, folder)
        made = Results(answer, drawn, problems)
        made.folder = None
        return made


def read_store(file: Place) -> Rows:
    """The points of a sweep's store (docs/formats/store.md): what was entered, and what came out."""
    if not pathlib.Path(file).is_file():
        raise InputError(f"{file}: there is no such store")
    with contextlib.closing(sqlite3.connect(f"file:{pathlib.Path(file).resolve()}?mode=ro", uri=True)) as store:
        names = {"bytes": "bytes", "seconds": "s", "bytes_per_second": "bytes/s"}
        units = {name: names[unit] for name, unit in store.execute("SELECT name, unit FROM columns") if unit in names}
        rows = [{"status": status, **json.loads(entered or "{}"), **json.loads(results or "{}")}
                for status, entered, results in
                store.execute("SELECT status, entered, results FROM points ORDER BY position")]
    return Rows(rows, units)


def sweep(space: Union[Place, Mapping[str, Iterable[Any]]],
          function: Optional[Callable[..., Any]] = None, *, jobs: Optional[int] = None,
          executor: Optional[concurrent.futures.Executor] = None, out: Optional[Place] = None,
          progress: Progress = None, **options: Any) -> Rows:
    """Points of a parameter space.

    With a function: `space` maps parameters to values, and `function(**point)` is called for each
    combination, `jobs` at once (default: all processors), in threads, as long work lets others run,
    or by an `executor` of one's own. It returns a dictionary, or one value ("result"). Without:
    `space` is the file or the name of a sweep (docs/formats/sweep.md) that the command runs, or a
    store of one, which is read. Errors: InputError; Interrupted with the rows so far."""
    if function is None:
        if isinstance(space, Mapping):
            raise TypeError("function: a grid needs one to be called with each of its points")
        if str(space).endswith(".sqlite"):
            return read_store(space)
        with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
            place = str(out or folder)
            call(["sweep", str(space), "--out", place, *_options({"jobs": jobs, **options})], progress)
            return read_store(os.path.join(place, "sweep.sqlite"))
    if not isinstance(space, Mapping):
        raise TypeError(f"space: a mapping from parameters to values is expected, not {type(space).__name__}")
    for key, values in space.items():
        if isinstance(values, (str, bytes)):
            raise TypeError(f"space: {key}: a list of values is expected, not the text {values!r}")
    points = [dict(zip(space, values)) for values in itertools.product(*map(list, space.values()))]
    heard = listener(progress)
    pool = executor or concurrent.futures.ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0)))
    futures = {pool.submit(function, **point): point for point in points}

    def rows() -> Rows:
        made = Rows()
        for future, point in futures.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                answer = future.result()
                made.append({**point, **(answer if isinstance(answer, Mapping) else {"result": answer})})
        return made

    try:
        for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
            if (error := future.exception()) and not isinstance(error, KeyboardInterrupt):
                error.add_note(f"at {futures[future]}")
            future.result()
            if heard:
                heard("sweep", done, len(points))
    except KeyboardInterrupt:
        raise Interrupted(rows()) from None
    finally:
        for future in futures:
            future.cancel()
        if executor is None:
            pool.shutdown(wait=True, cancel_futures=True)
    return rows()
