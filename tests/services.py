"""PostgreSQL and Redis of one's own, for as long as a command runs.

    python -m tests.services COMMAND [ARGUMENT...]

Both listen on free loopback ports, keep their files in a temporary directory, and are stopped
whatever happens. The command finds them in ``DATABASE_URL`` and ``REDIS_URL``; its exit code is
ours.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

START_SECONDS = 60.0

UNSAFE = (
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    # Compiling a query takes longer than to run it over the few rows of a test.
    "jit=off",
    # Rows of tests that were rolled back lie about until they are swept up, and are read past.
    "autovacuum_naptime=1s",
    "autovacuum_vacuum_cost_delay=0",
    "autovacuum_vacuum_scale_factor=0",
    "autovacuum_vacuum_threshold=2000",
    # Statistics of tables that a test has just emptied make the next one read whole tables.
    "autovacuum_analyze_threshold=2000000000",
)
"""What a database may do that nobody keeps."""


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def chromium() -> str | None:
    """Return Chromium's path: of the one without windows, which takes a quarter less, if it is
    there."""
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


def postgres_bin() -> Path | None:
    """The folder of PostgreSQL's server programs: on PATH, or where Debian puts them."""
    if program := shutil.which("initdb"):
        return Path(program).resolve().parent
    result = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(result, key=lambda path: int(path.parts[-3]), default=None)
    return newest.parent if newest else None


@contextmanager
def ended_with_us(pid: int) -> Iterator[None]:
    """Interrupt a process when this one is gone, however it went; until the block ends.

    A shell waits for the end of a pipe that only this process holds open.
    """
    script = 'read _; kill -INT "$0"; sleep 10; kill -KILL "$0"'
    command = ["sh", "-c", script, str(pid)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as watcher:
        try:
            yield
        finally:
            watcher.kill()


@contextmanager
def postgres(folder: Path, port: int | None = None) -> Iterator[str]:
    """Run a PostgreSQL cluster in ``folder``, at ``port`` if one is named; yields the address of a
    database, which is empty unless the folder has it from an earlier run."""
    bin_dir = postgres_bin()
    if bin_dir is None:
        raise RuntimeError(
            "PostgreSQL's server is not installed (Debian: apt-get install postgresql)."
        )
    port = port or free_port()
    data = folder / "postgres"
    is_new = not data.exists()
    data.mkdir(exist_ok=True)
    prefix: list[str] = []
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(data, "postgres", "postgres")
        prefix = ["runuser", "-u", "postgres", "--"]

    def run(program: str, *arguments: str) -> None:
        command = [*prefix, str(bin_dir / program), *arguments]
        done = subprocess.run(
            command, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode:
            raise RuntimeError(f"PostgreSQL's {program} failed:\n{done.stdout}")

    cluster = str(data / "cluster")
    options = f"-c listen_addresses=127.0.0.1 -p {port} -c unix_socket_directories={data}"
    encoding = ["-E", "UTF8", "--locale=C.UTF-8"]
    if is_new:
        run("initdb", "-D", cluster, "-U", "postgres", "-A", "trust", "-N", *encoding)
    # The log goes to a file: a pipe would stay open for as long as the server runs.
    settings = " ".join(f"-c {entry}" for entry in UNSAFE)
    start = ["-D", cluster, "-w", "-l", str(data / "log"), "-o", f"{options} {settings}"]
    try:
        run("pg_ctl", *start, "start")
        if is_new:
            run("createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "ieim")
        pid = (data / "cluster" / "postmaster.pid").read_text(encoding="utf-8").splitlines()[0]
        with ended_with_us(int(pid)):
            yield f"postgresql://postgres@127.0.0.1:{port}/ieim"
    finally:
        if (data / "cluster" / "postmaster.pid").exists():
            # Not at once: without synchronous commits it would forget what was just committed, and
            # who starts it again is to find that.
            run("pg_ctl", "-D", cluster, "-m", "fast", "stop")


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """Run a new Redis in ``folder``; yields its address."""
    program = shutil.which("redis-server")
    if program is None:
        raise RuntimeError("Redis is not installed (Debian: apt-get install redis-server).")
    port = free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    command += ["--databases", "5000"]  # each run of a site takes one
    log = (folder / "redis.log").open("wb")
    command += ["--save", "", "--appendonly", "no"]
    # Ctrl-C is for whoever runs us: Redis ends when they have.
    process = subprocess.Popen(command, stdout=log, start_new_session=True)
    try:
        with ended_with_us(process.pid):
            wait_for_port(port, process)
            yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(timeout=START_SECONDS)
        log.close()


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    """Return once ``port`` takes connections.

    RuntimeError when ``process`` ends first or takes too long.
    """
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)  # between two looks
        else:
            return
    raise RuntimeError(f"Nothing answers on port {port}: {process.args!r}")


@contextmanager
def services() -> Iterator[dict[str, str]]:
    """Run both; yields the environment variables that name them."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ieim-")))
        folder.chmod(0o755)  # the postgres user has to get to its own folder in it
        yield {
            "DATABASE_URL": stack.enter_context(postgres(folder)),
            "REDIS_URL": stack.enter_context(redis(folder)),
        }


def main(command: list[str]) -> int:
    """Run ``command`` with both; returns its exit code."""
    if not command:
        sys.exit(__doc__)
    # Ended by SIGTERM as by Ctrl-C: the servers are stopped on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with services() as variables:
            return subprocess.run(command, env=os.environ | variables).returncode
    except RuntimeError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
