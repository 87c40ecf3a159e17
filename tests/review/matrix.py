"""What each cell of the matrix of access is expected to answer.

Who may open an address is in ``ieim/people/access.py``. Here is what the object adds to that: for
somebody of one agency, whose role may, and for whom the object is not there or not theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from django.contrib.auth.models import AnonymousUser
from django.urls import URLResolver, get_resolver

from ieim.people import access
from ieim.people.access import BEARER, EVERYBODY
from ieim.people.models import User
from ieim.people.roles import Role
from tests.review.world import Variant

APIS = ("review_api:", "knowledge_api:")
NAMELESS = {""}
"""The API's catch-all, which says that there is nothing; the admin's own are below its prefix."""
OK, NOT_YOURS, NOT_THERE, LOGIN = "ok", "403", "404", "login"
BACK = "back to the list"
"""What the admin does for an object that somebody does not see."""
OWN, FOREIGN, TWO, NONE = Variant


Who = frozenset[Role] | str

ADMIN_SITE: Mapping[str, Who] = {
    **dict.fromkeys(("login", "logout"), EVERYBODY),
    **dict.fromkeys(
        ("index", "password_change", "password_change_done", "jsi18n"), frozenset(Role)
    ),
    **dict.fromkeys(("app_list", "autocomplete"), frozenset({Role.EDITOR, Role.PUBLISHER})),
}
_READ, _CHANGE, _ALL = "v", "vc", "vcad"
ADMIN: Mapping[str, Mapping[Role, str]] = {
    "people_user": {},
    "auth_group": {},
    **{
        f"studio_{name}": {Role.EDITOR: _CHANGE, Role.PUBLISHER: _READ}
        for name in ("agency", "category", "service")
    },
    **{
        f"studio_{name}": {Role.EDITOR: _ALL, Role.PUBLISHER: _READ}
        for name in ("translation", "examplequestion")
    },
    "studio_label": {},
    "studio_helpline": {},
    "studio_riskexample": {},
    "studio_casetext": {},
    "studio_situation": {},
}
"""What somebody of one agency views, changes, adds and deletes in the admin, by model. What has
pages of its own is only listed and imported; labels, help lines, examples, texts and situations are
for people of every agency."""


def who_may(name: str, method: str = "GET") -> Who | None:
    """Return who may open an address by its name, None for one that nobody listed.

    Of the admin's addresses see :data:`ADMIN`.
    """
    if name.startswith("admin:"):
        return ADMIN_SITE.get(name.removeprefix("admin:"))
    permission = access.required_permission(name, method)
    if permission is None or permission in (EVERYBODY, BEARER):
        return permission
    return access.roles(name, method)


class Kind(StrEnum):
    """What an address takes."""

    ITEM = "review item"
    PROPOSAL = "proposal, to read"
    DECISION = "proposal, to decide about"
    QUESTION = "golden question"
    GROUP = "group of questions that ended badly"
    NOTICE = "notice"
    SERVICE = "service whose answers are recalled"
    ENTRY = "entry of the draft"
    CHAIN = "chain of the record, whosever items its conversation has"
    AGENCY = "agency of the draft"
    LABEL = "label, help line, example or text of the draft"
    TOKEN = "token of somebody else"
    ACCOUNT = "a caseworker’s account, a superuser’s, an administrator’s, one’s own"
    PAGE = "page of an entry of the draft, which anybody reads"
    SHARED = "page of an entry that belongs to every agency"
    ADDED = "page that adds or deletes what belongs to every agency"
    DELETED = "page that deletes an entry of the draft"
    PUBLIC = "what everybody who may open the address sees"


Row = Mapping[Variant, str]
SCOPED: Row = {OWN: OK, FOREIGN: NOT_THERE}
EXPECTED: Mapping[Kind, Row] = {
    Kind.ITEM: {OWN: OK, FOREIGN: NOT_THERE, TWO: OK, NONE: OK},
    Kind.PROPOSAL: dict.fromkeys(Variant, OK),
    Kind.DECISION: {OWN: OK, FOREIGN: NOT_YOURS, TWO: NOT_YOURS, NONE: NOT_YOURS},
    Kind.QUESTION: {OWN: OK, FOREIGN: NOT_THERE, TWO: OK, NONE: OK},
    Kind.GROUP: {OWN: OK, FOREIGN: NOT_THERE, NONE: OK},
    Kind.NOTICE: {OWN: OK, FOREIGN: NOT_THERE, NONE: NOT_THERE},
    Kind.SERVICE: SCOPED,
    Kind.ENTRY: SCOPED,
    Kind.AGENCY: SCOPED,
    Kind.LABEL: {NONE: OK},
    Kind.PAGE: {OWN: OK, FOREIGN: OK},
    Kind.SHARED: {NONE: OK},
    Kind.ADDED: dict.fromkeys(Variant, NOT_YOURS),
    Kind.DELETED: {OWN: OK, FOREIGN: NOT_YOURS},
    Kind.CHAIN: {OWN: OK, FOREIGN: OK},
    Kind.TOKEN: {OWN: OK},
    Kind.ACCOUNT: dict.fromkeys(Variant, OK),
    Kind.PUBLIC: {OWN: OK},
}
"""By what an address takes, and whose it is; a variant that is left out is none of that kind."""
SEEN_BY: Mapping[tuple[Kind, Variant], frozenset[Role]] = {
    (Kind.ITEM, TWO): frozenset(Role),
    # It takes a right of its own (review.scope.TRIAGE).
    (Kind.ITEM, NONE): frozenset({Role.SUPERVISOR}),
    (Kind.TOKEN, OWN): frozenset({Role.ADMINISTRATOR}),
}
"""Who of those whose role may sees such an object at all; for the others it is not there."""
EXCEPT: Mapping[tuple[Kind, str], Row] = {
    # An entry is added and changed by one call, which never says whether it is there.
    (Kind.ENTRY, "PUT"): {OWN: OK, FOREIGN: NOT_YOURS},
    (Kind.AGENCY, "PUT"): {OWN: OK, FOREIGN: NOT_YOURS},
    (Kind.AGENCY, "DELETE"): {OWN: NOT_YOURS, FOREIGN: NOT_THERE},
    (Kind.LABEL, "PUT"): {NONE: NOT_YOURS},
    (Kind.PAGE, "POST"): {OWN: OK, FOREIGN: NOT_YOURS},
    (Kind.SHARED, "POST"): {NONE: NOT_YOURS},
    (Kind.LABEL, "DELETE"): {NONE: NOT_YOURS},
    (Kind.ACCOUNT, "POST"): {OWN: OK, FOREIGN: NOT_YOURS, TWO: NOT_YOURS, NONE: OK},
}
KINDS: Mapping[str, Kind] = {
    **{f"knowledge:{name}": Kind.PROPOSAL for name in ("proposal", "withdraw")},
    **{
        f"knowledge:{name}": Kind.PROPOSAL
        for name in ("comment", "propose_set", "take_into", "leave_out")
    },
    # Whoever did not propose it is told to publish it as the second person, whatever it is about.
    "knowledge:alone": Kind.PROPOSAL,
    "knowledge:restore": Kind.PUBLIC,
    **{f"knowledge_api:{name}": Kind.PROPOSAL for name in ("proposal", "withdraw", "golden_run")},
    **{f"trying:{name}": Kind.PROPOSAL for name in ("golden", "start")},
    **{
        f"{space}:{name}": Kind.DECISION
        for space in ("knowledge", "knowledge_api")
        for name in ("publish", "refuse")
    },
    "trying:question_remove": Kind.QUESTION,
    **{f"gaps:{name}": Kind.GROUP for name in ("group", "act")},
    "knowledge_api:gap_actions": Kind.GROUP,
    "notices:end": Kind.NOTICE,
    "knowledge_api:end_notice": Kind.NOTICE,
    **{f"recall:{name}": Kind.SERVICE for name in ("home", "references", "correct", "resume")},
    "fresh:entry": Kind.SERVICE,
    **{f"knowledge_api:{name}": Kind.SERVICE for name in ("versions", "answers")},
    **{
        f"knowledge_api:{name}_entry": Kind.ENTRY
        for name in ("dictionary", "services", "translations", "questions")
    },
    "knowledge_api:agencies_entry": Kind.AGENCY,
    "knowledge_api:labels_entry": Kind.LABEL,
    "knowledge_api:help_lines_entry": Kind.LABEL,
    "knowledge_api:risk_examples_entry": Kind.LABEL,
    "knowledge_api:texts_entry": Kind.LABEL,
    "knowledge_api:situations_entry": Kind.LABEL,
    **{f"knowledge:{name}": Kind.PUBLIC for name in ("service", "release", "again")},
    "knowledge_api:release": Kind.PUBLIC,
    **{f"drafting:{name}": Kind.SERVICE for name in ("home", "start", "run", "accept")},
    **{f"webpages:{name}": Kind.SERVICE for name in ("page", "take", "leave", "restore")},
    **{f"knowledge_api:webpage_{name}": Kind.SERVICE for name in ("take", "leave")},
    "review_api:reply": Kind.SERVICE,
    "drafting:start_stale": Kind.PROPOSAL,
    "translating:confirm": Kind.ENTRY,
    "audit:chain": Kind.CHAIN,
    "tokens:revoke": Kind.TOKEN,
    **{f"people:{name}": Kind.ACCOUNT for name in ("account", "link", "factors", "sessions")},
    "administration:save": Kind.PUBLIC,
    "administration:preview": Kind.PUBLIC,
    **{f"editor:{name}": Kind.PAGE for name in ("agency", "category", "service")},
    "editor:translation": Kind.PAGE,
    "editor:situation": Kind.SHARED,
    **{
        f"editor:{action}_{name}": Kind.ADDED
        for action in ("new", "delete")
        for name in ("agency", "situation")
    },
    **{f"editor:delete_{name}": Kind.DELETED for name in ("category", "service")},
    **{f"dictionary:{name}": Kind.SERVICE for name in ("home", "merge", "split")},
    "knowledge_api:dictionary_changes": Kind.SERVICE,
    **dict.fromkeys(
        ("review:sample", "review_api:sample", "review_api:sample_translation"), Kind.PUBLIC
    ),
    **{f"webpages:{name}": Kind.SERVICE for name in ("pause", "resume")},
    **{f"knowledge_api:webpage{name}": Kind.SERVICE for name in ("", "_run", "_pause", "_resume")},
    **{f"review:batch_{name}": Kind.PUBLIC for name in ("status", "undo")},
    "review_api:batch": Kind.PUBLIC,
    "review_api:view": Kind.PUBLIC,  # one's own, or none
    **{f"mfa_{name}_webauthn": Kind.PUBLIC for name in ("edit", "remove")},
}
"""Every staff address that takes an object, but for those of review items and the admin's."""

PAGED = frozenset(f"studio_{name}" for name in ("agency", "category", "service", "situation"))
"""What the admin lists and imports, while pages elsewhere add, change and delete it."""
IN_AND_OUT = ("admin:login", "admin:logout")
"""What of the admin is for those too to whom nobody has given a role."""
PROVEN_AGAIN = ("mfa_reauthenticate", "mfa_reauthenticate_webauthn", "account_reauthenticate")
"""Who one is, by a password or a second factor: people here have neither, and so no way to."""
OF_AGENCY = frozenset(
    f"studio_{n}" for n in ("agency", "category", "service", "translation", "examplequestion")
)
_RIGHTS = {"changelist": "v", "history": "v", "add": "a", "delete": "d", "password": "c"} | {
    "import": "c",
    "process": "c",
    "export": "v",
}


def addresses(
    resolver: URLResolver | None = None, space: str = "", taken: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every address of the site: ``(name, names of what is filled in)``."""
    for pattern in (resolver or get_resolver()).url_patterns:
        filled = (*taken, *pattern.pattern.regex.groupindex)
        if isinstance(pattern, URLResolver):
            inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from addresses(pattern, inner, filled)
        elif pattern.name:
            yield f"{space}{pattern.name}", filled
        elif space != "admin:":
            assert str(pattern.pattern) in NAMELESS, f"{pattern} has no name"


NAMES = dict(addresses())


def kind_of(name: str) -> Kind | None:
    """Return what an address takes, None for nothing."""
    if name.startswith("review") and "pk" in NAMES[name]:
        return KINDS.get(name, Kind.ITEM)
    return KINDS.get(name)


def model_page(name: str) -> tuple[str, str] | None:
    """Return the model and the page of an address of the admin, None for one of the site's own."""
    # Django calls this one so whatever the model of users is.
    name = name.replace(":auth_user_", ":people_user_")
    for model in ADMIN:
        if name.startswith(f"admin:{model}_"):
            page = name.removeprefix(f"admin:{model}_")
            return model, page.partition("_")[0]
    return None


def expected(
    name: str, method: str, variant: Variant, role: Role | None, user: User | AnonymousUser
) -> str:
    """Return what somebody of one agency with ``role`` is answered; None is no role."""
    roleless = role is None and user.is_authenticated and not user.is_superuser
    if roleless and name.startswith(("admin:", "staff_home")) and name not in IN_AND_OUT:
        return NOT_YOURS
    if result := model_page(name):
        return _admin(*result, method, variant, role, user)
    who = who_may(name, method)
    if who == EVERYBODY:
        return LOGIN if name == "admin:login" else OK
    if who == BEARER or (user.is_anonymous and name.startswith(APIS)):
        return NOT_YOURS
    if user.is_anonymous:
        return LOGIN
    everybody = who == frozenset(Role)
    if not (user.is_superuser or everybody or role in (who or ())):
        # Of an app of which they may see nothing, the admin says that there is none.
        return NOT_THERE if name == "admin:app_list" else NOT_YOURS
    if name in PROVEN_AGAIN:
        return NOT_YOURS
    kind = kind_of(name)
    if kind is None or user.is_superuser:
        return OK
    if role not in SEEN_BY.get((kind, variant), (role,)):
        return NOT_THERE
    return EXCEPT.get((kind, method), EXPECTED[kind])[variant]


def _admin(
    model: str,
    page: str,
    method: str,
    variant: Variant,
    role: Role | None,
    user: User | AnonymousUser,
) -> str:
    if user.is_anonymous:
        return LOGIN
    rights = ADMIN[model].get(role, "") if role else ""
    if user.is_superuser:
        rights = "vc" if model in PAGED else "vcad"
    changes = "v" if method == "GET" else "c"
    needed = changes if page == "change" else _RIGHTS[page]
    if page == "history" and not user.is_superuser and not _in_sight(model, variant):
        return BACK
    if needed not in rights:
        return NOT_YOURS
    if user.is_superuser:
        shut_out = model == "people_user" and page == "delete" and variant is NONE
        return NOT_YOURS if shut_out else OK
    return OK if _in_sight(model, variant) or page not in ("change", "delete") else BACK


def _in_sight(model: str, variant: Variant) -> bool:
    """Whether somebody of one agency finds what the admin shows of a model there."""
    everybodys = ("label", "helpline", "riskexample", "casetext", "situation")
    return model.rpartition("_")[2] not in everybodys and (
        model not in OF_AGENCY or variant is not FOREIGN
    )


def in_play(name: str, variant: Variant) -> bool:
    """Whether there is such an object for this address."""
    result = model_page(name)
    if result:
        model, _ = result
        accounts = model == "people_user"
        return variant is OWN or (bool(NAMES[name]) and (accounts or variant is FOREIGN))
    kind = kind_of(name)
    return variant is OWN if kind is None else variant in EXPECTED[kind]
