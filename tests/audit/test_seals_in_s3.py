"""Seals in S3-compatible storage: a server of moto over HTTP, which knows Object Lock and checks
signatures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError
from botocore.session import get_session
from moto.core import set_initial_no_auth_action_count
from moto.server import ThreadedMotoServer

from ieim.audit.models import AuditCheckpoint
from ieim.audit.places import SealError, place
from tests.audit.keeper import Keeper, happen

pytestmark = pytest.mark.django_db

FOR_SEALS = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Action": ["s3:ListBucket", "s3:ListBucketVersions", "s3:GetObject*", "s3:PutObject*"],
            "Resource": "*",
        }
    ],
}
"""What docs/audit.md says that the sealer's credentials may do."""


class Storage:
    """A server, and its owner's client of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        host, port = self.server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "owner")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "owner")
        self.owner = get_session().create_client("s3")
        self.bucket = f"seals-{uuid4().hex[:8]}"
        self.place = f"s3://{self.bucket}/ours"

    def make(self, *, locked: bool = True) -> None:
        self.owner.create_bucket(Bucket=self.bucket, ObjectLockEnabledForBucket=locked)

    def lines(self) -> list[str]:
        """What the objects hold, in the order of their names."""
        listed = self.owner.list_objects_v2(Bucket=self.bucket, Prefix="ours/").get("Contents", [])
        return [
            self.owner.get_object(Bucket=self.bucket, Key=each["Key"])["Body"].read().decode()
            for each in listed
        ]


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Storage]:
    storage = Storage(monkeypatch)
    yield storage
    storage.server.stop()


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return Keeper(tmp_path)


def key(number: int) -> str:
    return f"ours/{number:012}.json"


def delete(storage: Storage, *, version: bool) -> None:
    which = {}
    if version:
        told = storage.owner.list_object_versions(Bucket=storage.bucket, Prefix=key(2))
        which = {"VersionId": told["Versions"][0]["VersionId"]}
    storage.owner.delete_object(Bucket=storage.bucket, Key=key(2), **which)


def overwrite(storage: Storage) -> None:
    storage.owner.put_object(Bucket=storage.bucket, Key=key(2), Body=b"{}")


@pytest.mark.parametrize(
    ("tamper", "says"),
    [
        (lambda each: delete(each, version=True), "seal before that of checkpoint 3 is gone"),
        (lambda each: delete(each, version=False), "was deleted; a version of it is left"),
        (overwrite, "was overwritten; what it was first is left"),
    ],
)
def test_what_was_done_to_objects_is_found(
    keeper: Keeper, storage: Storage, tamper: Callable[[Storage], None], says: str
) -> None:
    storage.make()
    for _ in range(3):
        happen()
        keeper.seal(storage.place)
    assert keeper.verify(storage.place) == keeper.verify() == ""
    tamper(storage)
    found = keeper.verify(storage.place)
    assert says in found
    assert "is not signed" not in found
    assert keeper.verify() == ""


def test_nobody_removes_a_seal_before_its_time(keeper: Keeper, storage: Storage) -> None:
    storage.make()
    keeper.seal(storage.place, retain_days=3650)
    told = storage.owner.head_object(Bucket=storage.bucket, Key=key(1))
    assert told["ObjectLockMode"] == "COMPLIANCE"
    assert (told["ObjectLockRetainUntilDate"] - datetime.now(UTC)).days == 3649
    (version,) = storage.owner.list_object_versions(Bucket=storage.bucket)["Versions"]
    with pytest.raises(ClientError, match="AccessDenied"):
        storage.owner.delete_object(
            Bucket=storage.bucket, Key=key(1), VersionId=version["VersionId"]
        )


def test_a_seal_is_written_once(storage: Storage) -> None:
    storage.make(locked=False)
    bucket = place(storage.place)
    bucket.keep(1, "first")
    bucket.keep(1, "first")  # the answer to the first try was lost
    with pytest.raises(SealError, match="PreconditionFailed"):
        bucket.keep(1, "second")
    assert storage.lines() == ["first"]


def test_an_object_of_somebody_else_is_not_sealed_after(keeper: Keeper, storage: Storage) -> None:
    storage.make(locked=False)
    storage.owner.put_object(Bucket=storage.bucket, Key=key(2), Body=b"{}")
    assert "was changed, or another key signed it" in keeper.refused(storage.place)
    assert len(keeper.lines()) == 1


def test_what_could_not_be_sent_is_sent_next_time(keeper: Keeper, storage: Storage) -> None:
    assert "NoSuchBucket" in keeper.refused(storage.place)
    assert "NoSuchBucket" in keeper.refused(storage.place)
    assert len(keeper.lines()) == 2
    storage.make()
    keeper.seal(storage.place)
    assert storage.lines() == keeper.lines()
    assert [json.loads(line)["number"] for line in storage.lines()] == [1, 2, 3]
    # And the other way: the machine with the file is a new one.
    keeper.file.unlink()
    keeper.seal(storage.place)
    assert len(keeper.lines()) == 4
    assert keeper.verify(storage.place) == keeper.verify() == ""


def test_a_server_that_is_away_fails_and_leaves_no_checkpoint_where_it_is_alone(
    keeper: Keeper, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.make()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert "Could not connect" in keeper.refused(to=[storage.place])
    assert "Could not connect" in keeper.verify(storage.place)
    assert not AuditCheckpoint.objects.exists()


@pytest.mark.parametrize("wrong", ["", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_credentials_are_checked_and_need_few_rights(
    keeper: Keeper, storage: Storage, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    storage.make()
    users = get_session().create_client("iam")
    name = f"sealer-{uuid4().hex[:8]}"
    users.create_user(UserName=name)
    users.put_user_policy(UserName=name, PolicyName="seals", PolicyDocument=json.dumps(FOR_SEALS))
    made: dict[str, Any] = users.create_access_key(UserName=name)["AccessKey"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", made["AccessKeyId"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", made["SecretAccessKey"])
    if wrong:
        monkeypatch.setenv(wrong, "another")

    @set_initial_no_auth_action_count(0)
    def sealed_and_verified() -> str:
        if wrong:
            return keeper.refused(storage.place)
        keeper.seal(storage.place)
        return keeper.verify(storage.place)

    assert f"Check {wrong}" * bool(wrong) in sealed_and_verified()


def test_a_bucket_without_object_lock_cannot_retain(keeper: Keeper, storage: Storage) -> None:
    storage.make(locked=False)
    assert "made with Object Lock" in keeper.refused(storage.place, retain_days=1)
    keeper.seal(storage.place)
    assert len(storage.lines()) == 2
