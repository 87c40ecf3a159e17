"""The citizen's pages: the same journey as over the websocket, by plain requests."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import reswap, trigger_client_event

from conversations import page_languages, reactions, returning, selectors
from conversations.api import exporting
from conversations.chat import cookies, wording
from conversations.chat.announcing import after_choosing, status_fragment, turns_without_alert
from conversations.chat.presenters import ChatView
from conversations.chat.responses import (
    in_session,
    is_htmx,
    not_found,
    redirect_to_chat,
    session_of,
    too_many,
)
from conversations.mail import selectors as mails
from conversations.models import Session
from conversations.returning import Visit
from conversations.turns import choosing, erasing, refusing, services
from conversations.turns.message import FIELD, chosen
from conversations.turns.services import new_secret
from ieim.people import addresses


@require_safe
def chat(request: HttpRequest) -> HttpResponse:
    """The conversation of this browser; on a first visit the empty page and a fresh secret.

    Nothing is stored before the first message. An open page that looks again brings its visit; any
    other one is a visit of its own, by which the browser has seen what there is.
    """
    secret = cookies.secret_of_request(request)
    chat = selectors.chat_view(secret=secret)
    live = is_htmx(request)
    visit = returning.visit_of(dict(request.GET.lists())) if live else _visit(request, chat)
    response = _page(request, replace(chat, visit=visit))
    if chat.reference and not live:
        returning.mark_seen(response, chat.reference, chat.latest)
    if secret is None:
        cookies.set_cookie(response, new_secret())
    return response


@sensitive_post_parameters()
@require_POST
def ask(request: HttpRequest) -> HttpResponse:
    """Take a question from the form.

    303 to the page at the new question, or the page with the reason and the draft: 422, 429 for
    too many, and 503 while the page is switched off. With a ``client_id`` the same question may be
    sent until its answer arrives.
    """
    secret = cookies.secret_of_request(request) or new_secret()
    # Browsers send a textarea's line ends as CRLF, which would count as two characters.
    text = request.POST.get("text", "").replace("\r\n", "\n")
    name = request.POST.get("client_id")
    try:
        turn, _ = services.receive(
            session=secret,
            text=text,
            client_id=name if name and services.is_client_id(name) else None,
            personal_data=chosen(request.POST.get(FIELD)),
            address=addresses.of_request(request),
            way="chat",
        )
    except refusing.Refused as refused:
        response = _not_taken(request, secret, refused, draft=text)
    else:
        response = redirect_to_chat(f"turn-{turn.pk}")
    cookies.set_cookie(response, secret)
    return response


@require_POST
@in_session
def choose(request: HttpRequest, session: Session, turn_id: UUID) -> HttpResponse:
    """Take the choice of this browser's citizen: the number of an option, or ``none``; or the
    numbers that are ticked.

    303 to the page at that question, for htmx what came of it, also where it is too late or nothing
    was ticked; 404 where there is no choice, 400 for what is no option.
    """
    problem = ""
    try:
        # One form serves all questions of the page, so the ticks are named by their turn.
        values = request.POST.getlist("choice") or request.POST.getlist(f"choice-{turn_id}")
        numbers = choosing.numbers_of(values)
        choosing.choose(session_id=session.pk, turn_id=turn_id, numbers=numbers)
    except choosing.ChoiceRefused as refused:
        if isinstance(refused, choosing.NothingChosen) and is_htmx(request):
            problem = refused.message
        elif not refused.late:
            return render(
                request,
                "conversations/turn/problem.html",
                {"message": refused.message, "about_choice": True},
                status=400,
            )
        # Too late: the page shows what became of the question.
    if is_htmx(request):
        chat = selectors.chat_view(secret=cookies.secret_of_request(request))
        turn = next((turn for turn in chat.turns if turn.id == turn_id), None)
        if turn is None:
            return not_found(request)
        base_url = returning.base_url(request)
        context = {"turn": turn, "chat": chat, "choice_problem": problem, "base_url": base_url}
        outcome = render_to_string("conversations/turn/_outcome.html", context, request)
        # What was announced before, to choose, is over.
        status = "" if problem else after_choosing(turn)
        return HttpResponse(outcome + ("" if problem else status_fragment(status)))
    return redirect_to_chat(f"turn-{turn_id}")


@require_POST
@in_session
def something_else(request: HttpRequest, session: Session, turn_id: UUID) -> HttpResponse:
    """Ask a question of this browser's citizen again, without the talk that its answer went on.

    303 to the page at the new question, or at the old one where there is no answer to it; 404 where
    its answer goes on with nothing. A refused message is answered as by :func:`ask`.
    """
    shown_turn = turn_id
    try:
        turn, _ = services.ask_again(
            session_id=session.pk,
            turn_id=turn_id,
            address=addresses.of_request(request),
            way="chat",
        )
        shown_turn = turn.pk
    except services.NotAnswered:
        pass  # The page shows what became of the question.
    except refusing.Refused as refused:
        return _not_taken(request, cookies.secret_of_request(request), refused)
    return redirect_to_chat(f"turn-{shown_turn}")


@require_POST
@in_session
def safe(request: HttpRequest, session: Session, turn_id: UUID) -> HttpResponse:
    """Take it that this browser's citizen is safe; 303 to the page at that question, 404 where it
    shows no help lines."""
    reactions.say_safe(session_id=session.pk, turn_id=turn_id)
    return redirect_to_chat(f"turn-{turn_id}")


@require_POST
def start_again(request: HttpRequest) -> HttpResponse:
    """Forget the conversation in this browser; it stays reachable by its resume link."""
    response = redirect_to_chat()
    cookies.delete_cookie(response)
    returning.forget_seen(response)
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest) -> HttpResponse:
    """Ask whether the conversation of this browser shall be deleted, and delete it.

    Without one there is nothing to ask: back to the empty page.
    """
    session = session_of(request)
    if session is None:
        return redirect("conversations:chat")
    if request.method != "POST":
        return render(request, "conversations/pages/delete.html", {"reference": session.reference})
    erasing.erase_session(session_id=session.pk)
    context = {"reference": session.reference, "deleted": True}
    response = render(request, "conversations/pages/delete.html", context)
    cookies.delete_cookie(response)
    returning.forget_seen(response)
    return response


@require_safe
def page(request: HttpRequest, page: str) -> HttpResponse:
    """How to reach a person, or the accessibility statement."""
    return render(request, f"conversations/pages/{page}.html")


@require_safe
def privacy(request: HttpRequest) -> HttpResponse:
    """What is kept, who reads it, how long."""
    return render(
        request,
        "conversations/pages/privacy.html",
        {
            "cookie_days": cookies.MAX_AGE_DAYS,
            "mail": mails.is_configured(),
            "kept": settings.IEIM_KEEP,
        },
    )


def _not_taken(
    request: HttpRequest, secret: str | None, refused: refusing.Refused, draft: str = ""
) -> HttpResponse:
    chat = selectors.chat_view(secret=secret)
    response = _page(request, chat, refused=refused, draft=draft)
    if isinstance(refused, refusing.TooMany):
        return too_many(response, refused.retry_after)
    if isinstance(refused, refusing.SwitchedOff):
        response.status_code = 503
    return response


def _page(
    request: HttpRequest,
    chat: ChatView,
    *,
    refused: refusing.Refused | None = None,
    draft: str = "",
) -> HttpResponse:
    number_check = refused if isinstance(refused, refusing.NotChosen) else None
    context = {
        "chat": chat,
        "refused": None if number_check else refused,
        "number_check": number_check,
        "draft": draft,
        "base_url": returning.base_url(request),
        "without_alert": turns_without_alert(None, chat.turns),
        # Not with an error: reloading the page would lose the draft.
        "look_again": _look_again(request, chat) if chat.pending and not refused else "",
    }
    return render(request, "conversations/chat/chat.html", context, status=422 if refused else 200)


def _visit(request: HttpRequest, chat: ChatView) -> Visit | None:
    since = returning.seen_until(request, chat.reference)
    # Who has waited here for the answer, on a page without scripts, was not away.
    waited = "look" in request.GET
    return None if since is None or waited else Visit(since, chat.latest)


def _look_again(request: HttpRequest, chat: ChatView) -> str:
    # Going to the same address with a #fragment only scrolls, so the address has to alternate.
    look = "2" if request.GET.get("look") == "1" else "1"
    return f"{reverse('conversations:chat')}?look={look}#{chat.turns[-1].dom_id}"


@sensitive_post_parameters()
@require_POST
def rate(request: HttpRequest, turn_id: UUID) -> HttpResponse:
    """Take the verdict on an answer of this browser's conversation.

    With "no" may come why: a reason and words. 303 to the page at that answer, for htmx the line
    beneath it; 400 for what is no verdict, 422 for a reason or words that cannot be taken, 429 for
    too many, 404 where there is nothing to rate.
    """
    verdict = {"yes": True, "no": False}.get(request.POST.get("useful", ""))
    if verdict is None:
        return render(request, "conversations/turn/problem.html", status=400)
    # One form serves all answers of the page, so each names its fields by its turn.
    reason, text = (request.POST.get(f"{name}-{turn_id}", "") for name in ("reason", "text"))
    session = session_of(request)
    try:
        if session is None:
            raise reactions.NothingToRate
        reactions.rate(
            session_id=session.pk,
            turn_id=turn_id,
            useful=verdict,
            reason="" if verdict else reason,
            text="" if verdict else text.replace("\r\n", "\n"),
            address=addresses.of_request(request),
        )
    except refusing.TooMany as refused:
        return _too_many(request, refused)
    except reactions.FeedbackRefused as refused:
        context = {"message": refused.message}
        return render(request, "conversations/turn/problem.html", context, status=422)
    except (Session.DoesNotExist, reactions.NothingToRate):
        return not_found(request)
    turn = selectors.turn_view(turn_id)
    # Help lines are above the answer, feedback is below it: the focus moves to the first.
    in_danger = bool(text and turn.feedback and turn.contacts and not turn.contacts_below)
    fragment = f"{turn.dom_id}-{'help' if in_danger else 'rating'}"
    if is_htmx(request):
        # The focus has the help lines read out: as an alert too they would be read twice.
        template_context = {"turn": turn, "without_alert": {turn.id}, "rated": True}
        response = render(request, "conversations/chat/_parts.html#rating", template_context)
        if in_danger:
            trigger_client_event(response, "help", {"id": fragment}, after="settle")
        return response
    return redirect_to_chat(fragment)


@require_POST
@in_session
def tick(request: HttpRequest, session: Session, turn_id: UUID) -> HttpResponse:
    """Take what a citizen has seen to of several services, or with ``list=situation`` of those of a
    situation: ``done`` or ``open`` is the service. 303 to the page at that answer, for htmx the
    list; 404 where there is no such."""
    done = "done" in request.POST
    service = request.POST.get("done" if done else "open", "")
    reactions.tick(session_id=session.pk, turn_id=turn_id, service=service, done=done)
    turn = selectors.turn_view(turn_id)
    if is_htmx(request):
        context = {"turn": turn, "reply": turn.reply, "chat": True}
        part = "steps_of_situation" if request.GET.get("list") == "situation" else "checklist"
        return render(request, f"conversations/reply/_parts.html#{part}", context)
    return redirect_to_chat(f"{turn.dom_id}-list")


def _too_many(request: HttpRequest, refused: refusing.TooMany) -> HttpResponse:
    """Show the refusal: htmx keeps the draft, and shows parts with status 200 only."""
    if is_htmx(request):
        response = render(request, "conversations/chat/_parts.html#too_many", {"refused": refused})
        return reswap(response, "none")
    context = {"message": refused.message, "refused": refused}
    response = render(request, "conversations/turn/problem.html", context)
    return too_many(response, refused.retry_after)


@require_safe
def private_link(request: HttpRequest) -> HttpResponse:
    """The private link of this browser's conversation as a QR code.

    The address of the page has no secret in it, and nothing keeps what it shows. Without a
    conversation there is nothing to show: back to the empty page.
    """
    session = session_of(request)
    if session is None:
        return redirect("conversations:chat")
    path = f"/c/{cookies.secret_of_request(request)}/"
    base_url = returning.base_url(request)
    context = {
        "reference": session.reference,
        "resume_path": path,
        "base_url": base_url,
        "words": wording.words(page_languages.current()),
        "code": returning.qr_code(f"{base_url}{path}"),
    }
    return render(request, "conversations/returning/private_link.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def resume(request: HttpRequest, secret: str) -> HttpResponse:
    """Open a conversation by its private link: take it into the cookie and out of the address.

    Only after a press of a button: a link that another site makes a browser follow must not put
    that citizen's next question into somebody else's conversation.
    """
    session = selectors.session_for_secret(secret)
    if session is None:
        return not_found(request)
    if request.method != "POST":
        context = {"reference": session.reference}
        response = render(request, "conversations/chat/resume.html", context)
        # The address is the secret: of this page not even our own log gets it as a Referer. With
        # "no-referrer" the form below would have no Origin, and would be taken for a forgery.
        response.headers["Referrer-Policy"] = "strict-origin"
        return response
    response = redirect_to_chat()
    cookies.set_cookie(response, secret)
    return response


@require_safe
def export(request: HttpRequest, secret: str, form: exporting.Form) -> HttpResponse:
    """The conversation of a private link as a file; 404 for a link that opens none."""
    session = selectors.session_for_secret(secret)
    if session is None:
        return not_found(request)
    return exporting.download(session, form)


OFFLINE_FOR = ("chat", "person", "help", "accessibility", "privacy")
"""The pages in whose place it is shown. Staff have the browser's own message."""

_SHEET = re.compile(r'<link rel="stylesheet" href="([^"]+)"')
_SCRIPT = re.compile(r'<script src="([^"]+)"')


@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """Say that there is no connection, what was kept, and how to go on."""
    return HttpResponse(_offline_page(request))


@require_safe
def worker(request: HttpRequest) -> HttpResponse:
    """Return the worker's script (Service Workers, W3C), with the page of this browser's language.

    Browsers install a worker anew when a byte of it has changed. So it has the page's digest in it:
    in another language, or after a change of the settings, the page is kept anew.
    """
    html = _offline_page(request)
    content = {
        "version": hashlib.sha256(html.encode()).hexdigest()[:16],
        "page": reverse("conversations:offline"),
        "parts": [unescape(path) for path in (*_SHEET.findall(html), *_SCRIPT.findall(html))],
        "places": [reverse(f"conversations:{name}") for name in OFFLINE_FOR],
    }
    script = render_to_string("conversations/offline/worker.js", {"content": json.dumps(content)})
    return HttpResponse(script, content_type="text/javascript; charset=utf-8")


def _offline_page(request: HttpRequest) -> str:
    return render_to_string("conversations/offline/offline.html", {}, request)
