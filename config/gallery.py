from django.http import HttpRequest, HttpResponse
def gallery(request: HttpRequest) -> HttpResponse:
    return HttpResponse("")
