from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from . import architectures, queries
from .forms import ChoiceForm, FilterForm
from .models import MIN_LOTS, TERMS


@require_safe
@vary_on_headers("HX-Request")
def offers(request: HttpRequest) -> HttpResponse:
    """Show the list; to htmx only its results."""
    form = FilterForm(request.GET, vendors=queries.vendors())
    wishes = form.wishes()
    context = {
        "form": form,
        "wishes": wishes,
        "filtered": bool(wishes.keys() - {"sort", "term"}),
        "terms": TERMS,
        "offers": queries.matching(wishes),
    }
    part = "#results" if getattr(request, "htmx", False) else ""
    return render(request, f"catalog/list.html{part}", context)


@require_safe
def offer(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one offer with its configurator; a choice in the address is shown with its figures."""
    found = get_object_or_404(queries.readable(), slug=slug)
    form = ChoiceForm({"term": TERMS[0], "lots": MIN_LOTS} | request.GET.dict(), offer=found)
    return render(
        request,
        "catalog/offer.html",
        {
            "offer": found,
            "form": form,
            "figures": form.figures(),
            "check": architectures.check(found.architecture),
            "related": queries.related(found),
            "environment": request.GET.get("environment", ""),
            "environment_other": request.GET.get("environment_other", ""),
        },
    )


@require_safe
def figures(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the figures of a choice alone, for a page that is open."""
    found = get_object_or_404(queries.readable(), slug=slug)
    form = ChoiceForm(request.GET, offer=found)
    return render(request, "catalog/figures.html", {"offer": found, "form": form, "figures": form.figures()})
