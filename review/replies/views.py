"""The page of saved replies, and what an item's page shows of this package."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from conversations.models import Session
from ieim.people.access import member
from ieim.people.models import User
from ieim.pipeline.findings import pointer, steps
from ieim.studio.drafts.selectors import agency_names
from ieim.studio.labels import language_label
from review import reading
from review.item import selectors
from review.models import ReviewItem
from review.replies import placeholders, saved, similar, translating
from review.replies.models import SavedReply
from review.replies.saved import ReplyError
from review.replies.translating import NoTranslation
from review.scope import visible


@require_http_methods(["GET", "HEAD", "POST"])
def replies(request: HttpRequest) -> HttpResponse:
    """List the saved replies and store or delete one; 422 with what was typed where refused.

    ``reply`` of the address or the form is the key of the one that is changed.
    """
    user, data, problem = member(request), request.POST, ""
    key = data.get("reply") or request.GET.get("reply", "")
    pk = int(key) if key.isascii() and key.isdigit() and len(key) < 18 else None
    if key and pk is None:
        raise Http404
    try:
        if "delete" in data:
            saved.delete(by=user, pk=pk or 0)
        elif request.method == "POST":
            values = {name: data.get(name, "") for name in saved.FIELDS}
            saved.save(by=user, values=values, pk=pk, seen=data.get("seen", ""))
        edited = saved.visible_replies(user).get(pk=pk) if pk and request.method != "POST" else None
    except SavedReply.DoesNotExist as error:
        if not data.get("text"):
            raise Http404 from error
        pk, problem = None, gettext("Somebody has deleted this text. Save yours as a new one.")
    except ReplyError as error:
        problem = str(error)
    else:
        if request.method == "POST":
            messages.success(request, gettext("Done."))
            return redirect("review:replies")
    languages, agencies = saved.choices(user)
    shown, names = saved.visible_replies(user), {**agency_names(), "": gettext("All agencies")}
    context = {
        "rows": [
            (reply, names.get(reply.agency, reply.agency), language_label(reply.language))
            for reply in shown
        ],
        "key": pk,
        # What was refused is saved over what its author has been shown now.
        "seen": pk and saved.digest(shown.get(pk=pk)),
        "typed": data if problem else edited,
        "languages": languages.items(),
        "agencies": agencies.items(),
        "placeholders": [f"{{{name}}}" for name in placeholders.PLACEHOLDERS],
        "problem": problem,
    }
    return render(request, "review/replies/replies.html", context, status=422 if problem else 200)


@require_safe
def similar_page(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show decided cases that are similar to an item; the item's page takes them from here."""
    user = member(request)
    try:
        item = selectors.load(pk, user).item
    except ReviewItem.DoesNotExist as error:
        raise Http404 from error
    reading.record_read(item, user)
    is_mine = item.holder(timezone.now()) == user
    context = {"item": item, "cases": similar.similar_cases(item, user), "mine": is_mine}
    return render(request, "review/replies/similar.html", context)


@require_POST
def translate(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Have an item's message translated, and redirect to the item, which shows it or why not."""
    user = member(request)
    item = get_object_or_404(visible(user).select_related("turn"), pk=pk)
    reading.record_read(item, user)
    try:
        translating.translate(of=item, turn=item.turn, text=item.turn.text, by=user)
    except NoTranslation as error:
        messages.error(request, str(error))
    except Session.DoesNotExist as error:
        raise Http404 from error
    return redirect("review:item", pk)


def item_context(item: ReviewItem, user: User) -> dict[str, Any]:
    """Return what the item's page and its talk show: translation, and replies to insert."""
    may_translate = translating.is_foreign(item.turn, user)
    return {
        "translation": translating.translation_of(item) if may_translate else None,
        "may_translate": may_translate,
        "saved": [(reply, language_label(reply.language)) for reply in saved.for_item(user, item)],
    }


def inserted(item: ReviewItem, user: User, data: QueryDict) -> tuple[str, str]:
    """Return the text that a form of an item asks for, of a saved reply or of a similar case, and
    the value of the service that it is filled from, "" for none.

    Raises:
        Http404: there is no such text that the user may see.
    """
    kind, _, key = data.get("insert", "").partition("-")
    chosen = steps(data.get("write-source") or data.get("serve-service") or "")
    service = (chosen[0], chosen[1]) if len(chosen) == 2 else None
    try:
        if kind == "case":
            return similar.reusable_text(UUID(key), user), ""
        text, source = saved.insert(by=user, pk=int(key), item=item, service=service)
    except (SavedReply.DoesNotExist, ReviewItem.DoesNotExist, ValueError, OverflowError) as error:
        raise Http404 from error
    return text, pointer(source.agency, source.key) if source else ""
