"""The commands of docs/installing.md under a real systemd: the record is sealed and verified, and
an upgrade refuses nobody.

The server is a Debian tree that debootstrap makes and systemd-nspawn boots, in a network of its
own. What it needs of Python is fetched before, through this machine's pip.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checks import ROOT
from tests.config.deploying.test_installing import steps

SUITE = {(3, 11): "bookworm", (3, 13): "trixie"}.get(sys.version_info[:2])
"""The Debian whose Python is this one, for which wheels can be had."""
PACKAGES = "systemd-sysv,dbus,python3-venv,make,curl,postgresql,redis-server,nginx,openssl"
HEADINGS = (
    *("Packages, accounts, folders", "The code", "The database", "The settings"),
    *("Tables, files, people, knowledge", "The processes", "nginx", "Seals of the record"),
)
# certbot needs a network; the model of the settings is not there.
BEFORE = """
mkdir --parents /etc/letsencrypt/live/ask.example.org
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ask.example.org \\
    -addext subjectAltName=DNS:ask.example.org \\
    -keyout /etc/letsencrypt/live/ask.example.org/privkey.pem \\
    -out /etc/letsencrypt/live/ask.example.org/fullchain.pem 2> /dev/null
"""
PROBES = """
import json, ssl, sys, threading, time, urllib.error, urllib.request

CONTEXT = ssl._create_unverified_context()
results, over = [], threading.Event()


def send(path, data=None, token=""):
    body = None if data is None else json.dumps(data).encode()
    headers = {"Host": "ask.example.org", "Content-Type": "application/json"}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request("https://127.0.0.1" + path, body, headers)
    with urllib.request.urlopen(request, timeout=30, context=CONTEXT) as response:
        return response.read()


def page():
    send("/")


def turn():
    session = json.loads(send("/api/v1/sessions/", {}))
    path, token = f"/api/v1/sessions/{session['id']}/turns/", session["token"]
    asked = json.loads(send(path, {"text": "How do I renew my passport?"}, token))
    while json.loads(send(f"/api/v1/turns/{asked['id']}/", token=token))["state"] != "answered":
        time.sleep(0.1)


def probe(request):
    while not over.is_set():
        began, problem = time.monotonic(), ""
        try:
            request()
        except Exception as error:
            problem = repr(error)
        results.append([request.__name__, problem, time.monotonic() - began])
        over.wait(0.1)


threads = [threading.Thread(target=probe, args=[work]) for work in (page, page, turn, turn)]
for thread in threads:
    thread.start()
sys.stdin.read()
over.set()
for thread in threads:
    thread.join()
with open("/results.json", "w") as file:
    json.dump(results, file)
"""
"""Pages and turns through nginx, in four threads, until its input ends."""
UPGRADE = """
mkfifo /stop
python3 /probes.py < /stop &
exec 3> /stop
sleep 5
{commands}
sleep 5
exec 3>&-
wait $!
"""
AFTER = """
systemctl start ieim-seal.service
systemctl start ieim-verify.service
systemctl start ieim-backup.service
systemctl is-active ieim-seal.timer ieim-verify.timer ieim-backup.timer
cd /opt/ieim/current
runuser -u ieim -- .venv/bin/python manage.py doctor site > /doctor || true
curl --silent http://127.0.0.1:8001/readyz > /ready
runuser -u ieim -- sh -c 'find /opt/ieim/ -writable ! -type l' > /writable
stat --format='%U:%G %a %n' /var/lib/ieim /var/lib/ieim-audit /var/lib/ieim-audit/* > /owners
echo "select distinct kind from audit_auditevent" |
    runuser -u ieim-owner -- psql --tuples-only --no-align --dbname=ieim > /events
"""
UNIT = """\
[Unit]
After=postgresql.service redis-server.service network-online.target
SuccessAction=poweroff-force
FailureAction=poweroff-force

[Service]
Type=oneshot
WorkingDirectory=/root
Environment=WHEELS=/wheels IEIM_EMBEDDINGS=none
ExecStart=/bin/sh -eux /commands
StandardOutput=append:/said
StandardError=inherit
"""
BOOT = """\
mountpoint --quiet /sys/fs/cgroup && umount --recursive --lazy /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
exec systemd-nspawn --quiet --boot --keep-unit --register=no --private-network --console=pipe \\
    --machine=ieim-test --directory="$1"
"""
"""In a mount namespace of its own: systemd wants the unified hierarchy of control groups."""

LACKING = [
    what
    for what, expected in {
        "root": os.geteuid() == 0,
        **{
            name: shutil.which(name) is not None
            for name in ("debootstrap", "systemd-nspawn", "unshare", "make")
        },
        "the Python of Debian 12 or 13": SUITE is not None,
    }.items()
    if not expected
]

pytestmark = [
    pytest.mark.whole,
    pytest.mark.timeout(2400),  # it installs a Debian and everything that the site needs
    pytest.mark.skipif(bool(LACKING), reason=f"systemd is not tried without {', '.join(LACKING)}"),
]


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server on which the commands have been run: its files, once it is off again."""
    root = tmp_path_factory.mktemp("server")
    root.chmod(0o755)
    run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", str(SUITE), str(root))
    # What is built is there: a test builds nothing in the environment that it runs in.
    run("make", "--old-file=setup", "dist")
    shutil.copy(ROOT / "dist/ieim-0.2.0.tar.gz", root / "root")
    download = (sys.executable, "-m", "pip", "download", "--quiet", "--require-hashes")
    wheels = ("--only-binary", ":all:", "--dest", str(root / "wheels"))
    run(*download, *wheels, "--requirement", "requirements/base.txt")
    # The version after it is the same again.
    shutil.copy(ROOT / "dist/ieim-0.2.0.tar.gz", root / "root/ieim-0.3.0.tar.gz")
    (root / "probes.py").write_text(PROBES, encoding="utf-8")
    chosen = [commands for heading, commands in steps() if heading in HEADINGS]
    assert len(chosen) == len(HEADINGS)
    versions = [commands for heading, commands in steps() if heading == "A new version, and back"]
    upgrade = UPGRADE.format(commands="\n".join(versions))
    # Nobody vouches for the site's certificate: that alone may be wrong, see below.
    commands = "\n".join([BEFORE, *chosen, AFTER, upgrade]).replace(
        "doctor site", "doctor site || true"
    )
    # No model is there, and all probes come from one address.
    commands = (
        commands.replace("https://models.example.org/v1", "")
        .replace("IEIM_MODEL_API_KEY=\n", "IEIM_ADDRESS_RATE=none\nIEIM_API_SESSIONS_RATE=none\n")
        .replace("IEIM_MODEL_NAME=example", "IEIM_MODEL_NAME=")
    )
    (root / "commands").write_text(f"{commands}\ntouch /passed\n", encoding="utf-8")
    unit = root / "etc/systemd/system/commands.service"
    unit.write_text(UNIT, encoding="utf-8")
    parent = unit.parent / "multi-user.target.wants"
    parent.mkdir(exist_ok=True)
    (parent / unit.name).symlink_to(unit.name)
    run("unshare", "--mount", "--propagation=private", "sh", "-eu", "-c", BOOT, "sh", str(root))
    return root


def test_sealing_and_verification_run_under_their_account(server: Path) -> None:
    text = (server / "said").read_text(encoding="utf-8")
    assert (server / "passed").exists(), text[-6000:]
    owners = (server / "owners").read_text(encoding="utf-8").splitlines()
    assert owners == [
        "ieim:ieim 750 /var/lib/ieim",
        "ieim-audit:ieim-audit 700 /var/lib/ieim-audit",
        "ieim-audit:ieim-audit 640 /var/lib/ieim-audit/seals",
    ]
    events = (server / "events").read_text(encoding="utf-8").split()
    assert {"audit.sealed", "audit.verified"} <= set(events)
    assert list((server / "var/backups/ieim").glob("*.dump"))
    assert json.loads((server / "ready").read_bytes())["checks"]["seals"] == "ok"
    doctor = (server / "doctor").read_text(encoding="utf-8")
    assert {"seals", "record", "code"} <= set(re.findall(r"^ +(\w+) +ok ", doctor, re.MULTILINE))
    assert re.findall(r"^ +(\w+) +WRONG ", doctor, re.MULTILINE) == ["proxies"]


def test_the_account_that_runs_it_cannot_write_its_code(server: Path) -> None:
    assert (server / "writable").read_text(encoding="utf-8") == ""


def test_an_upgrade_and_the_way_back_refuse_nobody(server: Path) -> None:
    results = json.loads((server / "results.json").read_bytes())
    for kind in ("page", "turn"):
        seconds = [taken for name, problem, taken in results if name == kind and not problem]
        assert len(seconds) > 20, kind
        assert max(seconds) < 5, kind
    assert [problem for _, problem, _ in results if problem] == []
