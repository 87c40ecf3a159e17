"""Why something cannot be done with a proposal, where that takes more than a sentence as it is."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext, gettext_noop, ngettext

from ieim.studio.models import Proposal

# By whether it shall be published, or else turned down.
MAY_NOT = {
    True: gettext_noop("You may not publish it: ask somebody who may."),
    False: gettext_noop("You may not turn it down: ask somebody who may."),
}
OWN = {
    True: gettext_noop("You proposed it, so somebody else must publish it; you can withdraw it."),
    False: gettext_noop(
        "You proposed it, so somebody else must turn it down; you can withdraw it."
    ),
}
_BEYOND = {
    True: gettext_noop(
        "It also touches {others}: somebody who works for all of it must publish it."
    ),
    False: gettext_noop(
        "It also touches {others}: somebody who works for all of it must turn it down."
    ),
}


def touches(others: str, *, publish: bool) -> str:
    """Say that it also touches what somebody does not work for."""
    return gettext(_BEYOND[publish]).format(others=others)


def overtaken(current: int | None) -> str:
    """Say that another release became current meanwhile."""
    told = gettext(
        "Release {number} became current after this was proposed: turn it down, and propose "
        "anew what shall still change."
    )
    return told.format(number=current)


def worse(losses: int) -> str:
    """Say that golden questions get worse, so that a reason is needed."""
    told = ngettext(
        "{count} golden question gets worse: write why it shall be published all the same.",
        "{count} golden questions get worse: write why it shall be published all the same.",
        losses,
    )
    return told.format(count=losses)


def numbers(entries: Sequence[str]) -> str:
    """Say that numbers change which somebody in danger calls, so that a reason is needed."""
    told = gettext(
        "It changes numbers that somebody in danger may call ({entries}): call them, and write that"
        " they are right."
    )
    return told.format(entries=", ".join(entries))


def the_same(proposal: Proposal) -> str:
    """Say that what would be proposed is current already."""
    if proposal.again_id is None:
        told = gettext("The draft is the same as the current release, {current}.")
        return told.format(current=proposal.base_id)
    told = gettext("Release {number} is the same as the current release, {current}.")
    return told.format(number=proposal.again_id, current=proposal.base_id)


def still_open(proposal: Proposal) -> str:
    """Say that another one is open."""
    told = gettext(
        "Proposal {number} by {name} is still open: it must be published, turned down or "
        "withdrawn first."
    )
    return told.format(number=proposal.pk, name=proposal.proposed_by.display_name)


def not_open(proposal: Proposal) -> str:
    """Say who decided about it meanwhile."""
    told = {
        Proposal.State.PUBLISHED: gettext(
            "Proposal {number} is not open any more: {name} has published it as release {release}."
        ),
        Proposal.State.REFUSED: gettext(
            "Proposal {number} is not open any more: {name} has turned it down."
        ),
        Proposal.State.WITHDRAWN: gettext(
            "Proposal {number} is not open any more: {name} has withdrawn it."
        ),
    }[Proposal.State(proposal.state)]
    by = proposal.decided_by
    name = gettext("somebody") if by is None else by.display_name
    return told.format(number=proposal.pk, name=name, release=proposal.release_id)
